/* SPDX-License-Identifier: MIT
 *
 * What the preparation of the embedded cluster is made of.
 */
#ifndef STORE_CLUSTER_INTERNAL_H
#define STORE_CLUSTER_INTERNAL_H

#include "server/store/cluster.h"

/* Directory of the PostgreSQL programs of that major version (0: the newest); false when there is
 * none. *out_major is theirs. */
bool store_cluster_find_programs(const char *bin_dir, int major, char out_dir[STORE_PATH_SIZE],
                                 int *out_major);

/* Runs initdb into a new directory as the cluster's user and waits for it. */
SV_MUST_CHECK enum sv_status store_cluster_initdb(const struct store_cluster *cluster,
                                                  const char *directory, const char *password_file,
                                                  bool sync, struct sv_error *err);

/* Becomes the cluster's user where needed; async-signal-safe. */
bool store_cluster_become(const struct store_cluster *cluster);

/* Removes a directory and all below it; does not follow links. */
bool store_cluster_remove_tree(const char *path);

#endif
