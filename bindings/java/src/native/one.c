/* one.c - processes one key, which may be bytes, text or a number. Each function takes an operation
 * and a key, and returns 1 or 0 or sets an exception. */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 1024 };

/* Returns true if any block of the map is damaged. The block may not belong to this key, but "true"
 * could be a wrong answer. */
static bool is_doubtful(const petal_filter *filter)
{
    return petal_last_error(filter, NULL) == PETAL_ERR_DAMAGED;
}

/* Repeats the call as a batch to obtain the reason for the failure. A call for a single key returns
 * no reason, and petal_last_error() keeps only the filter's first failure. */
static jint do_again(JNIEnv *env, petal_filter *filter, jint verb, const void *key, size_t size)
{
    petal_error error;
    petal_key same = {key, size};
    petal_batch batch = PETAL_BATCH_INIT;
    uint8_t result = 0;
    batch.data = &same;
    batch.count = 1;
    petal_status status =
        verb == petal_Core_ADD      ? petal_add_batch(filter, &batch, &result, NULL, &error)
        : verb == petal_Core_REMOVE ? petal_remove_batch(filter, &batch, &result, NULL, &error)
                                    : petal_contains_batch(filter, &batch, &result, NULL, &error);
    if (status >= 0) return result;
    error.offset = PETAL_NO_OFFSET;
    fail(env, &error, NULL, false);
    return 0;
}

static jint do_key(JNIEnv *env, petal_filter *filter, jint verb, const void *key, size_t size)
{
    petal_status status;
    if (verb == petal_Core_CONTAINS) {
        if (!petal_contains(filter, key, size)) return 0;
        status = is_doubtful(filter) ? PETAL_ERR_DAMAGED : PETAL_OK;
    } else {
        status =
            verb == petal_Core_ADD ? petal_add(filter, key, size) : petal_remove(filter, key, size);
    }
    if (status >= 0) return status == PETAL_OK;
    return do_again(env, filter, verb, key, size);
}

JNIEXPORT jint JNICALL Java_petal_Core_oneBytes(JNIEnv *env, jobject self, jlong handle, jint verb,
                                                jbyteArray key, jint from, jint size)
{
    jbyte stack[STACK_BYTES];
    void *copy = size > STACK_BYTES ? malloc((size_t)size) : stack;
    (void)self;
    if (!copy) {
        fail_memory(env);
        return 0;
    }
    (*env)->GetByteArrayRegion(env, key, from, size, copy);
    jint answer = do_key(env, filter_of(handle), verb, copy, (size_t)size);
    if (copy != stack) free(copy);
    return answer;
}

JNIEXPORT jint JNICALL Java_petal_Core_onePacked(JNIEnv *env, jobject self, jlong handle, jint verb,
                                                 jint size, jlong a, jlong b, jlong c, jlong d,
                                                 jlong e, jlong f, jlong g, jlong last)
{
    jlong words[petal_Core_PACKED_BYTES / 8];
    (void)self;
    words[0] = a;
    if (size > 16) words[1] = b;
    if (size > 24) words[2] = c;
    if (size > 32) words[3] = d;
    if (size > 40) words[4] = e;
    if (size > 48) words[5] = f;
    if (size > 56) words[6] = g;
    char *key = (char *)words;
    if (size >= 8) memcpy(key + size - 8, &last, 8);
    return do_key(env, filter_of(handle), verb, key, (size_t)size);
}

JNIEXPORT jint JNICALL Java_petal_Core_oneHash(JNIEnv *env, jobject self, jlong handle, jint verb,
                                               jlong hash)
{
    petal_filter *filter = filter_of(handle);
    (void)env, (void)self;
    if (verb == petal_Core_CONTAINS) {
        bool found = petal_contains_hash(filter, (uint64_t)hash);
        return found && is_doubtful(filter) ? -1 : found;
    }
    petal_status status = petal_add_hash(filter, (uint64_t)hash);
    return status < 0 ? -1 : status == PETAL_OK;
}

JNIEXPORT jint JNICALL Java_petal_Core_oneDirect(JNIEnv *env, jobject self, jlong handle, jint verb,
                                                 jobject buffer, jint from, jint size)
{
    const char *bytes = (*env)->GetDirectBufferAddress(env, buffer);
    (void)self;
    return do_key(env, filter_of(handle), verb, bytes ? bytes + from : NULL, (size_t)size);
}

JNIEXPORT jint JNICALL Java_petal_Core_oneLong(JNIEnv *env, jobject self, jlong handle, jint verb,
                                               jlong key)
{
    petal_filter *filter = filter_of(handle);
    (void)self;
    if (verb == petal_Core_CONTAINS && !petal_contains_i64(filter, key)) return 0;
    if (verb == petal_Core_CONTAINS && !is_doubtful(filter)) return 1;
    uint8_t bytes[8];
    petal_encode_i64(key, bytes);
    return do_key(env, filter, verb, bytes, sizeof bytes);
}

JNIEXPORT jlong JNICALL Java_petal_Core_hashKey(JNIEnv *env, jobject self, jlong handle,
                                                jbyteArray key)
{
    uint64_t size;
    void *copy = copy_of(env, key, &size);
    (void)self;
    if (!copy) return 0;
    uint64_t hash = petal_hash_key(filter_of(handle), copy, (size_t)size);
    free(copy);
    return (jlong)hash;
}

JNIEXPORT jlong JNICALL Java_petal_Core_shardOf(JNIEnv *env, jclass type, jbyteArray key,
                                                jlong shards)
{
    uint64_t size;
    void *copy = copy_of(env, key, &size);
    (void)type;
    if (!copy) return 0;
    uint32_t shard = petal_shard_of(copy, (size_t)size, (uint32_t)shards);
    free(copy);
    return shard;
}
