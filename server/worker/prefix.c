/* SPDX-License-Identifier: MIT
 *
 * Kept rows of frozen prefixes, shared by the trials of a worker: the first that wants them makes
 * them while others wait; who waits goes on as soon as they are there, or makes them itself when
 * the maker has ended without.
 *
 * The key here only brings together trials that will want the same: the child checks what it is
 * given by a key of its own, over every value and picture that went in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/sha256.h"
#include "core/data/augment.h"
#include "core/json/json.h"
#include "server/config/config.h"
#include "server/worker/worker_internal.h"

#define FILE_NAME "prefix" /* in the attempt's directory */

static bool is_augmented(const json_t *augmentation)
{
    struct nn_augmentation options;
    return augmentation &&
           (jx_decode(nn_augmentation_fields, augmentation, "", &options, NULL) != NN_OK ||
            nn_augmentation_is_on(&options));
}

static bool may_have_prefix(const json_t *resolved)
{
    const json_t *freeze = json_object_get(resolved, "freeze");
    bool frozen = freeze && !(json_is_string(freeze) && !strcmp(json_string_value(freeze), "none"));
    return frozen && json_is_string(json_object_get(resolved, "weights")) &&
           !is_augmented(json_object_get(resolved, "augmentation"));
}

/* What the rows may depend on; more than that only keeps trials apart. */
static bool key_of(const struct worker_slot *slot, const json_t *resolved, char out[NN_SHA256_HEX])
{
    const struct store_environment *environment = &slot->worker->environment;
    uint8_t digest[NN_SHA256_SIZE];
    json_t *parts = json_pack(
        "[s, s, s, s, O?, O?, O?, O?, O?]", slot->trial.dataset_digest, environment->core_build,
        environment->core_type, environment->instruction_set, json_object_get(resolved, "network"),
        json_object_get(resolved, "weights"), json_object_get(resolved, "freeze"),
        json_object_get(resolved, "data"), json_object_get(resolved, "operators"));
    char *text = parts ? jx_canonical(parts) : NULL;
    json_decref(parts);
    if (!text) {
        return false;
    }
    nn_sha256_of(text, strlen(text), digest);
    nn_sha256_hex(digest, out);
    free(text);
    return true;
}

int64_t worker_prefix_bytes(const struct worker_slot *slot)
{
    int64_t cap = slot->worker->config->blob_cache_bytes / 2;
    int64_t writable = slot->process.spawn.file_size;
    return cap < writable ? cap : writable;
}

/* The mutex is held, as for all below that say so. */
static bool is_made_by_other(const struct worker_slot *slot, const char *key)
{
    const struct worker *worker = slot->worker;
    for (size_t i = 0; i < worker->n_slots; i++) {
        if (&worker->slots[i] != slot && strcmp(worker->slots[i].prefix_key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The mutex is held: whoever is told to leave does not wait any longer. */
static bool may_wait(const struct worker_slot *slot)
{
    const struct worker_control *control = &slot->control;
    return !slot->worker->draining && !control->lost && !control->cancel && !control->pause &&
           !control->stop;
}

static bool link_kept(struct worker_slot *slot, const char *key)
{
    return worker_cache_link_kept(slot->worker->cache, key, slot->directory_fd, FILE_NAME);
}

/* Waits until the rows are there (linked: true), or this slot is their maker, or must not wait. The
 * look into the cache comes after becoming the maker: what another maker left is there by then. */
static bool link_or_become_maker(struct worker_slot *slot, const char *key)
{
    struct worker *worker = slot->worker;
    worker_lock(worker);
    while (may_wait(slot) && is_made_by_other(slot, key)) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1; /* wishes do not signal `changed` */
        (void)pthread_cond_timedwait(&worker->changed, &worker->mutex, &until);
    }
    if (!is_made_by_other(slot, key)) {
        (void)snprintf(slot->prefix_key, sizeof slot->prefix_key, "%s", key);
    }
    worker_unlock(worker);
    bool linked = link_kept(slot, key);
    if (linked) {
        worker_prefix_end(slot);
    }
    return linked;
}

const char *worker_prefix_begin(struct worker_slot *slot, const json_t *resolved)
{
    char key[NN_SHA256_HEX];
    if (!may_have_prefix(resolved) || !key_of(slot, resolved, key)) {
        return NULL;
    }
    if (!slot->prefix_key[0] && link_or_become_maker(slot, key)) {
        log_event(slot->worker->log, SV_LOG_INFO, "prefix_shared",
                  LOG_TEXT("attempt", slot->directory_name), LOG_TEXT("prefix", key));
    }
    return FILE_NAME;
}

void worker_prefix_end(struct worker_slot *slot)
{
    worker_lock(slot->worker);
    slot->prefix_key[0] = '\0';
    (void)pthread_cond_broadcast(&slot->worker->changed);
    worker_unlock(slot->worker);
}

bool worker_prefix_take(struct worker_slot *slot, const json_t *record)
{
    bool kept = json_is_true(json_object_get(record, "kept"));
    bool is_new = json_is_true(json_object_get(record, "new"));
    struct sv_error err = {0};
    if (!slot->prefix_key[0]) {
        return true; /* no maker: what it made is its own */
    }
    enum sv_status st = kept && is_new ? worker_cache_keep(slot->worker->cache, slot->prefix_key,
                                                           slot->directory_fd, FILE_NAME,
                                                           worker_prefix_bytes(slot), &err)
                                       : SV_OK;
    log_event(slot->worker->log, st == SV_OK ? SV_LOG_INFO : SV_LOG_WARN, "prefix_made",
              LOG_TEXT("attempt", slot->directory_name), LOG_TEXT("prefix", slot->prefix_key),
              LOG_INT("kept", kept && st == SV_OK), LOG_TEXT("text", err.text));
    worker_prefix_end(slot);
    return true;
}
