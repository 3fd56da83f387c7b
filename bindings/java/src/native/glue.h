/* glue.h - declarations that the JNI functions share.
 *
 *   load.c     loads the library; converts the core's failures to Java's exceptions
 *   one.c      one key: bytes, text, numbers
 *   batch.c    arrays of keys
 *   filter.c   creating and opening filters, whole filters, files, information
 *
 * Core.java declares every function. Its gate keeps other threads from freeing or changing a filter
 * during a call, so the native code takes no locks. Arrays are copied in pieces, so that no call
 * keeps the garbage collector waiting; arrays of numbers are used in place, for tens of
 * microseconds at a time. Strings are passed in both directions as UTF-8 in byte[], since JNI's own
 * strings use a different encoding. */
#ifndef PETAL_JAVA_GLUE_H
#define PETAL_JAVA_GLUE_H

#include <petal/petal.h>

#include "petal_Core.h"

#include <stdbool.h>
#include <string.h>

/* Converts a handle from Java's long to a pointer. */
static inline petal_filter *filter_of(jlong handle)
{
    return (petal_filter *)(intptr_t)handle;
}
static inline jlong handle_of(const void *pointer)
{
    return (jlong)(intptr_t)pointer;
}

/* Throws the exception that Failure.java chooses. `path` is the file's path, or NULL. `checked`
 * means that the Java method declares IOException. */
void fail(JNIEnv *env, const petal_error *error, jbyteArray path, bool checked);
void fail_memory(JNIEnv *env);
void throw_new(JNIEnv *env, const char *class_name, const char *message);

jbyteArray bytes_of(JNIEnv *env, const char *text); /* NULL for NULL, or if an exception is set */

/* Copies an array of bytes and appends a 0. Returns NULL for a NULL array, or if an exception is
 * set. The caller frees it. size may be NULL. */
void *copy_of(JNIEnv *env, jbyteArray array, uint64_t *size);

extern jmethodID output_write; /* OutputStream.write(byte[], int, int) */

#endif
