/* SPDX-License-Identifier: MIT
 *
 * The program: picks the role (parent, serve, work, trial, import, client commands), wires the
 * rooms together, starts them in order and stops them in reverse.
 */
#ifndef APP_APP_H
#define APP_APP_H

/* Runs the role that argv names; returns the process' exit status. */
int app_main(int argc, char **argv);

#endif
