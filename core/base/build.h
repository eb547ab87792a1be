/* SPDX-License-Identifier: MIT
 *
 * Which core this is: equal ids compute equal bits on equal processors.
 */
#ifndef NN_BASE_BUILD_H
#define NN_BASE_BUILD_H

/* 16 hex digits: a digest over the core's sources, the compiler and its flags, made by the build.
 */
extern const char nn_core_build_id[];

#endif
