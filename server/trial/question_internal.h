/* SPDX-License-Identifier: MIT
 *
 * A question to a trained network, whatever is asked: what the start record of a prediction says,
 * and the network it is put to (question.c).
 *
 * Whoever asks waits for the answer, so a refusal has a code of the service's list of errors beside
 * its text: question_refuse.
 */
#ifndef TRIAL_QUESTION_INTERNAL_H
#define TRIAL_QUESTION_INTERNAL_H

#include "core/image/image.h"
#include "server/base/error.h"
#include "server/trial/import_internal.h"

#define QUESTION_BODY_MAX ((size_t)64 << 20)

/* Destroyed in reverse. */
struct question {
    struct trial_link *link;
    const json_t *detail;  /* of the network's artefact */
    const json_t *explain; /* {options, class, picture}; NULL: what does the network say? */
    const char *media_type;
    struct trial_spec spec;
    enum nn_isa isa;
    const char *network_path;
    struct nn_memory *memory;
    struct nn_description *description;
    struct nn_network *network;
    uint8_t *body;
    size_t size;
};

/* question comes zeroed; to be ended after a failure too. */
NN_MUST_CHECK enum nn_status question_open(struct question *q, const json_t *start,
                                           const struct nn_import_file *files, size_t n,
                                           struct nn_error *err);
void question_deinit(struct question *q);

/* Gives the refusal that status is, if it is one, its code; returns status. */
enum nn_status question_refuse(const struct question *q, enum sv_status code,
                               enum nn_status status);

/* rows: of sequences; else 0. */
NN_MUST_CHECK enum nn_status question_load_network(struct question *q,
                                                   const struct nn_network_bind *bind, size_t rows,
                                                   struct nn_error *err);

/* Whether the network was trained on windows of signals. */
bool question_is_of_signals(const struct question *q);
/* The answer to a posted window (predict_signal.c), as that to a picture. */
NN_MUST_CHECK enum nn_status question_answer_signal(struct question *q, json_t **out,
                                                    struct nn_error *err);
/* An item of a set of signals that is to be explained, float32 as prepared; borrowed from the body.
 * A posted picture is refused. */
#define QUESTION_WINDOW_TYPE "application/octet-stream"
NN_MUST_CHECK enum nn_status question_fit_window(struct question *q,
                                                 struct nn_network_bind *out_bind,
                                                 const void **out_values, struct nn_error *err);
/* What its trial's samples were. */
struct nn_network_bind question_bind(const struct question *q);
/* What is wrong with a posted document has the codes of a JSON body. */
NN_MUST_CHECK enum nn_status question_parse(struct question *q, const struct jx_field *fields,
                                            json_t **out_body, void *out, struct nn_error *err);

/* The posted picture as the import of the data set would have made it, and the bind for it. Refused
 * where the network takes sequences. out_image is to be ended by nn_image_deinit. */
NN_MUST_CHECK enum nn_status question_fit_picture(struct question *q,
                                                  struct nn_network_bind *out_bind,
                                                  struct nn_image *out_image, struct nn_error *err);

/* {predicted, probability, classes: [{name, probability, score}]}, a number for each class of the
 * detail; where those are no numbers predicted is null, and a warning says why. */
json_t *question_encode_classes(const struct question *q, const nn_real *scores,
                                const nn_real *probabilities);
/* That sentence; a new reference. */
json_t *question_overflow(void);

/* Maps or activations of the posted sample: answers with {predicted, probability, classes,
 * pictures, arrays} and leaves their file as an artefact (explained_internal.h). */
NN_MUST_CHECK enum nn_status question_explain(struct question *q, json_t **out_report,
                                              struct nn_error *err);

#endif
