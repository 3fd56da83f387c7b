/* batch.c - processes arrays of keys, which are copied in pieces that fit in the cache. `base` is
 * the number of keys in earlier calls for the same batch; it is added to the index of a key that
 * fails. The functions return the number of results that are 1 or, for ANY and ALL, 1 or 0. */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_KEYS = petal_Core_PIECE_KEYS, PIECE_LONGS = 8192, PIECE_BYTES = 1 << 18 };

struct work {
    JNIEnv *env;
    petal_filter *filter;
    jint verb;
    bool unsure; /* see Core.UNSURE */
    jlong base;
    jbooleanArray answers; /* or NULL */
    jlong positive;
    bool ended;       /* the answer to ANY or ALL is known, or an exception is pending */
    uint8_t *results; /* the answers for the piece, or NULL */
};

static petal_status ask_whole(struct work *work, const petal_batch *batch, petal_error *error)
{
    bool any = work->verb == petal_Core_ANY, answer = false;
    petal_status status = any ? petal_contains_any(work->filter, batch, &answer, error)
                              : petal_contains_all(work->filter, batch, &answer, error);
    work->positive = answer;
    work->ended = answer == any;
    return status;
}

static petal_status do_each(struct work *work, const petal_batch *batch, petal_error *error)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    uint8_t *results = work->results;
    petal_status status;
    if (work->verb == petal_Core_ADD)
        status = petal_add_batch(work->filter, batch, results, &outcome, error);
    else if (work->verb == petal_Core_CONTAINS)
        status = petal_contains_batch(work->filter, batch, results, &outcome, error);
    else
        status = petal_remove_batch(work->filter, batch, results, &outcome, error);
    work->positive += (jlong)outcome.positive;
    return status;
}

/* Calls no JVM functions. */
static petal_status run(struct work *work, const petal_batch *batch, petal_error *error)
{
    bool whole = work->verb == petal_Core_ANY || work->verb == petal_Core_ALL;
    return whole ? ask_whole(work, batch, error) : do_each(work, batch, error);
}

/* `first` is the index of the piece's first key. */
static void fail_at(struct work *work, petal_error *error, jint first)
{
    if (error->offset != PETAL_NO_OFFSET) error->offset += (uint64_t)(work->base + first);
    fail(work->env, error, NULL, false);
    work->ended = true;
}

static void do_piece(struct work *work, const petal_batch *batch, jint first)
{
    petal_error error;
    uint8_t results[PIECE_KEYS];
    work->results = work->answers ? results : NULL;
    petal_status status = run(work, batch, &error);
    if (status < 0)
        fail_at(work, &error, first);
    else if (work->answers)
        (*work->env)
            ->SetBooleanArrayRegion(work->env, work->answers, first, (jint)batch->count, results);
}

static void begin(struct work *work, JNIEnv *env, jlong handle, jint verb, jbooleanArray answers)
{
    work->env = env;
    work->filter = filter_of(handle);
    work->verb = verb & ~petal_Core_UNSURE;
    work->unsure = verb & petal_Core_UNSURE;
    work->base = 0;
    work->answers = answers;
    work->positive = work->verb == petal_Core_ALL;
    work->ended = false;
}

static jint smaller(jint a, jint b)
{
    return a < b ? a : b;
}

/* Reads numbers and writes answers in place, because copying would make this a third slower. Since
 * the garbage collector has to wait, only one piece is processed at a time, which takes tens of
 * microseconds. */
static petal_status do_longs(struct work *work, jlongArray keys, jint first, jint count,
                             petal_error *error)
{
    JNIEnv *env = work->env;
    petal_batch batch = PETAL_BATCH_INIT;
    petal_status status = PETAL_ERR_MEMORY;
    jlong *all = (*env)->GetPrimitiveArrayCritical(env, keys, NULL);
    uint8_t *answers =
        all && work->answers ? (*env)->GetPrimitiveArrayCritical(env, work->answers, NULL) : NULL;
    if (all && (answers || !work->answers)) {
        work->results = answers ? answers + first : NULL;
        batch.layout = PETAL_LAYOUT_I64;
        batch.data = all + first;
        batch.count = (uint64_t)count;
        status = run(work, &batch, error);
    }
    if (answers) (*env)->ReleasePrimitiveArrayCritical(env, work->answers, answers, 0);
    if (all) (*env)->ReleasePrimitiveArrayCritical(env, keys, all, JNI_ABORT);
    return status;
}

JNIEXPORT jlong JNICALL Java_petal_Core_longs(JNIEnv *env, jobject self, jlong handle, jint verb,
                                              jlongArray keys, jint count, jbooleanArray answers)
{
    struct work work;
    jint first = 0;
    (void)self;
    begin(&work, env, handle, verb, answers);
    do { /* runs at least once, since even an empty batch must fail if the filter doesn't support
          * the call */
        jint piece = smaller(count - first, PIECE_LONGS);
        petal_error error = {
            .status = PETAL_ERR_MEMORY, .offset = PETAL_NO_OFFSET, .message = "out of memory"};
        if (do_longs(&work, keys, first, piece, &error) < 0) fail_at(&work, &error, first);
        first += piece;
    } while (first < count && !work.ended);
    return work.positive;
}

/* ---- bytes with offsets ---------------------------------------------------------------------- */

struct source {
    jbyteArray array;  /* or */
    const char *bytes; /* address of a direct buffer */
    jint size;         /* of either */
    jint *offsets;     /* one piece's */
    char *copy;
    size_t room;
};

/* Returns the number of keys in the piece. */
static jint piece_of(const jint *offsets, jint keys)
{
    jint count = 1;
    while (count < keys && offsets[count + 1] - offsets[0] <= PIECE_BYTES) count++;
    return count;
}

static const char *bytes_of_piece(JNIEnv *env, struct source *source, jint from, jint size)
{
    if (!source->array) return source->bytes ? source->bytes + from : NULL;
    if (source->room < (size_t)size) {
        free(source->copy);
        source->room = (size_t)size;
        source->copy = malloc(source->room);
        if (!source->copy) {
            source->room = 0;
            fail_memory(env);
            return NULL;
        }
    }
    if (size > 0) (*env)->GetByteArrayRegion(env, source->array, from, size, (jbyte *)source->copy);
    return source->copy;
}

/* Returns the number of question marks. */
static jint marks_of(const char *bytes, size_t size)
{
    jint marks = 0;
    if (size == 0 || !memchr(bytes, '?', size)) return 0; /* mostly */
    for (size_t i = 0; i < size; i++) marks += bytes[i] == '?';
    return marks;
}

/* Java has checked the offsets, but another thread may have changed them since. Sets an exception
 * if the copied offsets decrease or exceed the size of the data. */
static bool copy_offsets(JNIEnv *env, struct source *source, jintArray offsets, jint first,
                         jint keys)
{
    jint *at = source->offsets, last = 0;
    (*env)->GetIntArrayRegion(env, offsets, first, keys + 1, at);
    if ((*env)->ExceptionCheck(env)) return false;
    for (jint i = 0; i <= keys; last = at[i++])
        if (at[i] < last || at[i] > source->size) {
            throw_new(env, "java/util/ConcurrentModificationException",
                      "the offsets changed during the call");
            return false;
        }
    return true;
}

static void do_pieces(struct work *work, struct source *source, jintArray offsets, jint first,
                      jint count)
{
    JNIEnv *env = work->env;
    jint *at = source->offsets;
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_OFFSETS32;
    batch.offsets = at;
    jint end = first + count;
    do {
        jint keys = smaller(end - first, PIECE_KEYS);
        if (!copy_offsets(env, source, offsets, first, keys)) return;
        /* Text that may be invalid stays one piece, so that either all keys are added or none. */
        if (keys > 0 && !work->unsure) keys = piece_of(at, keys);
        jint from = at[0], size = at[keys] - from;
        const char *bytes = bytes_of_piece(env, source, from, size);
        if (size > 0 && !bytes) return;
        jint marks = work->unsure ? marks_of(bytes, (size_t)size) : 0;
        if (marks > 0) {
            work->positive = -marks;
            return;
        }
        batch.data = bytes;
        for (jint i = 0; i <= keys; i++) at[i] -= from;
        batch.data_bytes = (uint64_t)size;
        batch.count = (uint64_t)keys;
        do_piece(work, &batch, first);
        first += keys;
    } while (first < end && !work->ended);
}

static jlong do_offsets(struct work *work, struct source *source, jintArray offsets, jint first,
                        jint count)
{
    jint few[64];
    source->offsets = count < 63 ? few : malloc((PIECE_KEYS + 1) * sizeof *source->offsets);
    if (source->offsets)
        do_pieces(work, source, offsets, first, count);
    else
        fail_memory(work->env);
    if (source->offsets != few) free(source->offsets);
    free(source->copy);
    return work->positive;
}

JNIEXPORT jlong JNICALL Java_petal_Core_bytes(JNIEnv *env, jobject self, jlong handle, jint verb,
                                              jbyteArray data, jintArray offsets, jint first,
                                              jint count, jlong base, jbooleanArray answers)
{
    struct work work;
    struct source source = {.array = data, .size = (*env)->GetArrayLength(env, data)};
    (void)self;
    begin(&work, env, handle, verb, answers);
    work.base = base;
    return do_offsets(&work, &source, offsets, first, count);
}

JNIEXPORT jlong JNICALL Java_petal_Core_direct(JNIEnv *env, jobject self, jlong handle, jint verb,
                                               jobject buffer, jint from, jint size,
                                               jintArray offsets, jint first, jint count,
                                               jbooleanArray answers)
{
    struct work work;
    const char *bytes = (*env)->GetDirectBufferAddress(env, buffer);
    struct source source = {.bytes = bytes ? bytes + from : NULL, .size = size};
    (void)self;
    begin(&work, env, handle, verb, answers);
    return do_offsets(&work, &source, offsets, first, count);
}
