/* SPDX-License-Identifier: MIT
 *
 * Answers kept by revision: many dashboards that show one job cost one query per change. One answer
 * for each key; a newer version replaces it; the least recently used ones go when memory is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "server/changes/changes_internal.h"
#include "server/http/query.h"

#define KEY_SIZE 512
#define BUCKETS  1024
#define LARGEST  8 /* an answer may take this part of the memory */

struct changes_answer {
    struct changes_answer *next; /* in the bucket */
    struct changes_answer *older, *newer;
    uint64_t hash;
    int64_t version;
    char etag[HTTP_ETAG_SIZE];
    char type[48];
    size_t size;
    size_t key_size; /* with NUL */
    char data[];     /* key, then the bytes */
};

bool changes_answers_init(struct changes_answers *answers, size_t max_bytes)
{
    *answers = (struct changes_answers){.bucket_count = BUCKETS, .max_bytes = max_bytes};
    answers->buckets = calloc(BUCKETS, sizeof(struct changes_answer *));
    return answers->buckets != NULL;
}

void changes_answers_deinit(struct changes_answers *answers)
{
    while (answers->oldest) {
        struct changes_answer *answer = answers->oldest;
        answers->oldest = answer->newer;
        free(answer);
    }
    free(answers->buckets);
    *answers = (struct changes_answers){0};
}

/* False when the address is too long to be kept. */
static bool key_make(const struct http_request *req, char key[KEY_SIZE])
{
    const char *accept = http_header(req, "Accept");
    int n =
        snprintf(key, KEY_SIZE, "%s %d %s %016llx %s", req->actor.project_id, (int)req->actor.role,
                 req->path, (unsigned long long)http_query_hash(req), accept ? accept : "");
    return n > 0 && n < KEY_SIZE;
}

static void list_remove(struct changes_answers *answers, struct changes_answer *answer)
{
    *(answer->older ? &answer->older->newer : &answers->oldest) = answer->newer;
    *(answer->newer ? &answer->newer->older : &answers->newest) = answer->older;
}

static void list_append(struct changes_answers *answers, struct changes_answer *answer)
{
    answer->older = answers->newest;
    answer->newer = NULL;
    *(answers->newest ? &answers->newest->newer : &answers->oldest) = answer;
    answers->newest = answer;
}

static struct changes_answer **link_find(struct changes_answers *answers, uint64_t hash,
                                         const char *key)
{
    struct changes_answer **link = &answers->buckets[hash % answers->bucket_count];
    while (*link && ((*link)->hash != hash || strcmp((*link)->data, key) != 0)) {
        link = &(*link)->next;
    }
    return link;
}

static size_t weight(const struct changes_answer *answer)
{
    return sizeof *answer + answer->key_size + answer->size;
}

/* *link must not be NULL. */
static void remove_at(struct changes_answers *answers, struct changes_answer **link)
{
    struct changes_answer *answer = *link;
    *link = answer->next;
    list_remove(answers, answer);
    answers->bytes -= weight(answer);
    free(answer);
}

static struct changes_answer *answer_find(struct changes *changes, const char *key, int64_t version)
{
    struct changes_answers *answers = &changes->answers;
    struct changes_answer *answer = *link_find(answers, http_hash(HTTP_HASH_SEED, key), key);
    if (!answer || answer->version != version) {
        return NULL;
    }
    list_remove(answers, answer);
    list_append(answers, answer);
    return answer;
}

bool changes_answer_get(struct changes *changes, const struct http_request *req, int64_t version,
                        struct http_response *resp)
{
    char key[KEY_SIZE];
    char etag[HTTP_ETAG_SIZE];
    const char *type = NULL;
    char *copy = NULL;
    size_t size = 0;
    if (!changes->answers.max_bytes || !key_make(req, key)) {
        return false;
    }
    (void)pthread_mutex_lock(&changes->mutex);
    const struct changes_answer *answer = answer_find(changes, key, version);
    if (answer) {
        size = answer->size;
        copy = malloc(size + 1);
        type = http_request_printf(req, "%s", answer->type);
        memcpy(etag, answer->etag, sizeof etag);
    }
    if (copy) {
        memcpy(copy, answer->data + answer->key_size, size);
    }
    (void)pthread_mutex_unlock(&changes->mutex);
    if (!copy || !type) {
        free(copy);
        return false;
    }
    if (http_response_bytes_take(resp, 200, type, copy, size) != SV_OK) {
        return false;
    }
    http_response_etag(resp, etag);
    return true;
}

bool changes_answer_etag(struct changes *changes, const struct http_request *req, int64_t version,
                         char out_etag[HTTP_ETAG_SIZE])
{
    char key[KEY_SIZE];
    if (!changes->answers.max_bytes || !key_make(req, key)) {
        return false;
    }
    (void)pthread_mutex_lock(&changes->mutex);
    const struct changes_answer *answer = answer_find(changes, key, version);
    if (answer) {
        memcpy(out_etag, answer->etag, HTTP_ETAG_SIZE);
    }
    (void)pthread_mutex_unlock(&changes->mutex);
    return answer != NULL;
}

void changes_answer_put(struct changes *changes, const struct http_request *req, int64_t version,
                        const char *etag, const char *type, const void *bytes, size_t size)
{
    struct changes_answers *answers = &changes->answers;
    char key[KEY_SIZE];
    if (!answers->max_bytes || !key_make(req, key)) {
        return;
    }
    size_t key_size = strlen(key) + 1;
    size_t total = sizeof(struct changes_answer) + key_size + size;
    struct changes_answer *answer = total <= answers->max_bytes / LARGEST ? malloc(total) : NULL;
    if (!answer) {
        return;
    }
    *answer = (struct changes_answer){.hash = http_hash(HTTP_HASH_SEED, key),
                                      .version = version,
                                      .size = size,
                                      .key_size = key_size};
    (void)snprintf(answer->etag, sizeof answer->etag, "%s", etag);
    (void)snprintf(answer->type, sizeof answer->type, "%s", type);
    memcpy(answer->data, key, key_size);
    memcpy(answer->data + key_size, bytes, size);
    (void)pthread_mutex_lock(&changes->mutex);
    struct changes_answer **link = link_find(answers, answer->hash, key);
    if (*link) {
        remove_at(answers, link);
    }
    while (answers->oldest && answers->bytes + total > answers->max_bytes) {
        struct changes_answer **old =
            link_find(answers, answers->oldest->hash, answers->oldest->data);
        NN_ASSERT(*old == answers->oldest);
        remove_at(answers, old);
    }
    link = link_find(answers, answer->hash, key); /* removals may have moved the end */
    answer->next = NULL;
    *link = answer;
    list_append(answers, answer);
    answers->bytes += total;
    (void)pthread_mutex_unlock(&changes->mutex);
}
