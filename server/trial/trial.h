/* SPDX-License-Identifier: MIT
 *
 * What runs inside a child process: the mains of `assayd trial` and `assayd import`. They find
 * their socket on WIRE_CHILD_FD, their working directory is the attempt's private one, and all they
 * know comes in the start record. No store, no HTTP, no configuration, no environment.
 */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

/* Exit statuses of a child; the supervisor reads the class of a failure from the `failed` record
 * and takes the status only as a check. */
enum trial_exit {
    TRIAL_EXIT_DONE = 0,
    TRIAL_EXIT_FAILED = 1,   /* a `failed` record was sent */
    TRIAL_EXIT_ORPHANED = 3, /* the supervisor is gone */
    TRIAL_EXIT_PROTOCOL = 4, /* no usable start record */
};

/* Train and evaluate one trial. argv holds the limits (confine.h), after the role. */
int trial_train_main(int argc, char *const *argv);

/* Check and prepare one data set. */
int trial_import_main(int argc, char *const *argv);

#endif
