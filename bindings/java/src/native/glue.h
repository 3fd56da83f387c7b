/* glue.h - what the JNI functions share.
 *
 *   load.c     the library is loaded; the core's failures become Java's exceptions
 *   one.c      one key: bytes, text, numbers
 *   batch.c    arrays of keys
 *   filter.c   making, opening, whole filters, files, what is inside
 *
 * Core.java declares every function, and holds the gate that keeps others from freeing or changing
 * a filter while another call uses it: nothing here takes a lock. Arrays are copied in pieces, so
 * that no call keeps the garbage collector waiting; those of numbers are used where they lie, for
 * some tens of microseconds at a time. Text goes both ways as byte[] of UTF-8, since JNI's own
 * strings are another encoding. */
#ifndef PETAL_JAVA_GLUE_H
#define PETAL_JAVA_GLUE_H

#include <petal/petal.h>

#include "petal_Core.h"

#include <stdbool.h>
#include <string.h>

/* A handle as Java keeps it. */
static inline petal_filter *filter_of(jlong handle)
{
    return (petal_filter *)(intptr_t)handle;
}
static inline jlong handle_of(const void *pointer)
{
    return (jlong)(intptr_t)pointer;
}

/* Throws what Failure.java makes of it. path: NULL, or the file. checked: the call declares
 * IOException. */
void fail(JNIEnv *env, const petal_error *error, jbyteArray path, bool checked);
void fail_memory(JNIEnv *env);
void throw_new(JNIEnv *env, const char *class_name, const char *message);

jbyteArray bytes_of(JNIEnv *env, const char *text); /* NULL: NULL, or an exception is set */

/* A copy of an array of bytes, with a 0 after it: NULL for a NULL array, or if an exception is
 * set. free() it. size may be NULL. */
void *copy_of(JNIEnv *env, jbyteArray array, uint64_t *size);

extern jmethodID output_write; /* OutputStream.write(byte[], int, int) */

#endif
