/* filter.c - creates, opens, saves and describes filters, and makes calls on whole filters. */
#include "glue.h"

#include <petal/petal_host.h>
#include <petal/petal_parquet.h>

#include "../../../slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

/* Java passes the tables defined in slots.h as long[]. */
static void give_slots(JNIEnv *env, jlongArray array, const slot *slots, jsize count)
{
    (*env)->SetLongArrayRegion(env, array, 0, count, (const jlong *)(const void *)slots);
}

static void take_slots(JNIEnv *env, jlongArray array, slot *slots, jsize count)
{
    (*env)->GetLongArrayRegion(env, array, 0, count, (jlong *)(void *)slots);
}

/* Holds the arguments of create() and plan(). */
struct options {
    petal_options core;
    void *secret, *metadata;
    char *format;
};

static void options_release(struct options *options)
{
    free(options->secret);
    free(options->metadata);
    free(options->format);
}

/* If this fails, it sets an exception and returns false. */
static bool options_read(JNIEnv *env, struct options *options, jlongArray array, jbyteArray secret,
                         jbyteArray metadata, jbyteArray format)
{
    slot slots[OPTION_COUNT];
    uint64_t metadata_bytes;
    take_slots(env, array, slots, OPTION_COUNT);
    options->secret = copy_of(env, secret, NULL);
    options->metadata = copy_of(env, metadata, &metadata_bytes);
    options->format = copy_of(env, format, NULL);
    options->core = options_of(slots, options->secret, options->metadata, options->format);
    options->core.metadata_bytes = metadata_bytes;
    if (!(*env)->ExceptionCheck(env)) return true;
    options_release(options);
    return false;
}

struct opening {
    petal_open_options core;
    void *secret;
    char *format;
};

static void opening_release(struct opening *opening)
{
    free(opening->secret);
    free(opening->format);
}

static bool opening_read(JNIEnv *env, struct opening *opening, jint flags, jbyteArray secret,
                         jbyteArray format, jlong memory_limit)
{
    memset(opening, 0, sizeof *opening);
    opening->core = PETAL_OPEN_OPTIONS_INIT;
    opening->core.flags = (uint32_t)flags;
    opening->core.memory_limit = (uint64_t)memory_limit;
    opening->core.secret = opening->secret = copy_of(env, secret, NULL);
    opening->core.format = opening->format = copy_of(env, format, NULL);
    if (!(*env)->ExceptionCheck(env)) return true;
    opening_release(opening);
    return false;
}

/* ---- info ------------------------------------------------------------------------------------ */

static void info_give(JNIEnv *env, const slot *slots, jlongArray array, jobjectArray names)
{
    give_slots(env, array, slots, INFO_COUNT);
    for (int i = 0; i < INFO_NAMES; i++) {
        jbyteArray bytes = bytes_of(env, slots[INFO_FIRST_NAME + i].text);
        if ((*env)->ExceptionCheck(env)) return;
        (*env)->SetObjectArrayElement(env, names, i, bytes);
    }
}

/* -1: all layers */
static uint32_t layer_of(jint layer)
{
    return layer < 0 ? PETAL_ALL_LAYERS : (uint32_t)layer;
}

JNIEXPORT void JNICALL Java_petal_Core_info(JNIEnv *env, jobject self, jlong handle, jint layer,
                                            jlongArray array, jobjectArray names)
{
    petal_error error;
    slot slots[INFO_COUNT];
    (void)self;
    if (info_slots(filter_of(handle), layer_of(layer), slots, &error) < 0)
        fail(env, &error, NULL, false);
    else
        info_give(env, slots, array, names);
}

/* -1: unknown. */
JNIEXPORT jlong JNICALL Java_petal_Core_memoryBytes(JNIEnv *env, jobject self, jlong handle)
{
    petal_info info = PETAL_INFO_INIT;
    (void)env, (void)self;
    if (petal_get_info(filter_of(handle), PETAL_ALL_LAYERS, &info, NULL) < 0) return -1;
    return (jlong)info.memory_bytes;
}

JNIEXPORT void JNICALL Java_petal_Core_plan(JNIEnv *env, jclass type, jlongArray array,
                                            jbyteArray secret, jbyteArray metadata,
                                            jbyteArray format, jlongArray info, jobjectArray names)
{
    petal_error error;
    struct options options;
    slot slots[INFO_COUNT];
    (void)type;
    if (!options_read(env, &options, array, secret, metadata, format)) return;
    petal_status status = plan_slots(&options.core, slots, &error);
    options_release(&options);
    if (status < 0)
        fail(env, &error, NULL, false);
    else
        info_give(env, slots, info, names);
}

JNIEXPORT jdouble JNICALL Java_petal_Core_rateAt(JNIEnv *env, jclass type, jlongArray info,
                                                 jlong keys)
{
    slot slots[INFO_COUNT];
    (void)type;
    take_slots(env, info, slots, INFO_COUNT);
    return slots_rate(slots, (uint64_t)keys);
}

JNIEXPORT void JNICALL Java_petal_Core_stats(JNIEnv *env, jobject self, jlong handle, jint layer,
                                             jlongArray array)
{
    petal_error error;
    slot slots[STATS_COUNT];
    (void)self;
    if (stats_slots(filter_of(handle), layer_of(layer), slots, &error) < 0)
        fail(env, &error, NULL, false);
    else
        give_slots(env, array, slots, STATS_COUNT);
}

JNIEXPORT void JNICALL Java_petal_Core_compare(JNIEnv *env, jobject self, jlong a, jlong b,
                                               jlongArray array)
{
    petal_error error;
    slot slots[COMPARISON_COUNT];
    (void)self;
    if (comparison_slots(filter_of(a), filter_of(b), slots, &error) < 0)
        fail(env, &error, NULL, false);
    else
        give_slots(env, array, slots, COMPARISON_COUNT);
}

JNIEXPORT jboolean JNICALL Java_petal_Core_isOverfull(JNIEnv *env, jobject self, jlong handle)
{
    (void)env, (void)self;
    return petal_is_overfull(filter_of(handle));
}

JNIEXPORT jlong JNICALL Java_petal_Core_contentId(JNIEnv *env, jobject self, jlong handle)
{
    petal_error error;
    uint64_t id = 0;
    (void)self;
    if (petal_content_id(filter_of(handle), &id, &error) < 0) fail(env, &error, NULL, false);
    return (jlong)id;
}

JNIEXPORT jbyteArray JNICALL Java_petal_Core_metadata(JNIEnv *env, jobject self, jlong handle)
{
    uint64_t size;
    const void *bytes = petal_metadata(filter_of(handle), &size);
    (void)self;
    jbyteArray array = bytes ? (*env)->NewByteArray(env, (jsize)size) : NULL;
    if (array) (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, bytes);
    return array;
}

JNIEXPORT void JNICALL Java_petal_Core_setMetadata(JNIEnv *env, jobject self, jlong handle,
                                                   jbyteArray metadata)
{
    petal_error error;
    uint64_t size;
    void *copy = copy_of(env, metadata, &size);
    (void)self;
    if ((*env)->ExceptionCheck(env)) return;
    petal_status status = petal_set_metadata(filter_of(handle), copy, size, &error);
    free(copy);
    if (status < 0) fail(env, &error, NULL, false);
}

/* ---- making filters -------------------------------------------------------------------------- */

JNIEXPORT jlong JNICALL Java_petal_Core_create(JNIEnv *env, jclass type, jlongArray array,
                                               jbyteArray secret, jbyteArray metadata,
                                               jbyteArray format)
{
    petal_error error;
    struct options options;
    petal_filter *filter = NULL;
    (void)type;
    if (!options_read(env, &options, array, secret, metadata, format)) return 0;
    petal_status status = petal_create(&options.core, &filter, &error);
    options_release(&options);
    if (status < 0) fail(env, &error, NULL, false);
    return handle_of(filter);
}

/* `what` is 0 for a copy, 1 for an empty filter with the same parameters, 2 for a filter without
 * counts. */
JNIEXPORT jlong JNICALL Java_petal_Core_derive(JNIEnv *env, jobject self, jlong handle, jint what)
{
    static petal_status (*const makers[])(const petal_filter *, petal_filter **, petal_error *) = {
        petal_clone, petal_create_like, petal_drop_counts};
    petal_error error;
    petal_filter *made = NULL;
    (void)self;
    if (makers[what](filter_of(handle), &made, &error) < 0) fail(env, &error, NULL, false);
    return handle_of(made);
}

JNIEXPORT jlong JNICALL Java_petal_Core_fold(JNIEnv *env, jobject self, jlong handle, jdouble rate,
                                             jlong capacity, jlong bits)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_error error;
    petal_filter *made = NULL;
    (void)self;
    options.rate = rate;
    options.capacity = (uint64_t)capacity;
    options.bits = (uint64_t)bits;
    if (petal_fold(filter_of(handle), &options, &made, &error) < 0) fail(env, &error, NULL, false);
    return handle_of(made);
}

JNIEXPORT jlong JNICALL Java_petal_Core_open(JNIEnv *env, jclass type, jbyteArray path, jint flags,
                                             jbyteArray secret, jbyteArray format,
                                             jlong memory_limit)
{
    petal_error error;
    struct opening opening;
    petal_filter *filter = NULL;
    (void)type;
    if (!opening_read(env, &opening, flags, secret, format, memory_limit)) return 0;
    char *name = copy_of(env, path, NULL);
    if (name && petal_open(name, &opening.core, &filter, &error) < 0) fail(env, &error, path, true);
    free(name);
    opening_release(&opening);
    return handle_of(filter);
}

JNIEXPORT jlong JNICALL Java_petal_Core_view(JNIEnv *env, jclass type, jobject buffer, jint from,
                                             jint size, jint flags, jbyteArray secret,
                                             jbyteArray format, jlong memory_limit)
{
    petal_error error;
    struct opening opening;
    petal_filter *filter = NULL;
    const char *bytes = (*env)->GetDirectBufferAddress(env, buffer);
    (void)type;
    if (!opening_read(env, &opening, flags, secret, format, memory_limit)) return 0;
    if (petal_view(bytes ? bytes + from : "", (uint64_t)size, &opening.core, &filter, &error) < 0)
        fail(env, &error, NULL, true);
    opening_release(&opening);
    return handle_of(filter);
}

JNIEXPORT jlong JNICALL Java_petal_Core_load(JNIEnv *env, jclass type, jbyteArray data, jint flags,
                                             jbyteArray secret, jbyteArray format,
                                             jlong memory_limit)
{
    petal_error error;
    struct opening opening;
    petal_filter *filter = NULL;
    uint64_t size;
    (void)type;
    if (!opening_read(env, &opening, flags, secret, format, memory_limit)) return 0;
    void *copy = copy_of(env, data, &size);
    if (copy && petal_load(copy, size, &opening.core, &filter, &error) < 0)
        fail(env, &error, NULL, true);
    free(copy);
    opening_release(&opening);
    return handle_of(filter);
}

JNIEXPORT void JNICALL Java_petal_Core_free(JNIEnv *env, jclass type, jlong handle)
{
    (void)env, (void)type;
    petal_free(filter_of(handle));
}

/* ---- streams --------------------------------------------------------------------------------- */

JNIEXPORT jlong JNICALL Java_petal_Core_readerCreate(JNIEnv *env, jclass type, jint flags,
                                                     jbyteArray secret, jbyteArray format,
                                                     jlong memory_limit, jlong expected)
{
    petal_error error;
    struct opening opening;
    petal_reader *reader = NULL;
    (void)type;
    if (!opening_read(env, &opening, flags, secret, format, memory_limit)) return 0;
    if (petal_reader_create(&opening.core, (uint64_t)expected, &reader, &error) < 0)
        fail(env, &error, NULL, true);
    opening_release(&opening);
    return handle_of(reader);
}

JNIEXPORT void JNICALL Java_petal_Core_readerFeed(JNIEnv *env, jclass type, jlong reader,
                                                  jbyteArray bytes, jint size)
{
    petal_error error;
    char piece[8192];
    (void)type;
    for (jint from = 0; from < size;) {
        jint count = size - from < (jint)sizeof piece ? size - from : (jint)sizeof piece;
        (*env)->GetByteArrayRegion(env, bytes, from, count, (jbyte *)piece);
        petal_reader *to = (petal_reader *)(intptr_t)reader;
        if (petal_reader_feed(to, piece, (size_t)count, &error) < 0) {
            fail(env, &error, NULL, true);
            return;
        }
        from += count;
    }
}

JNIEXPORT jlong JNICALL Java_petal_Core_readerFinish(JNIEnv *env, jclass type, jlong reader)
{
    petal_error error;
    petal_filter *filter = NULL;
    (void)type;
    if (petal_reader_finish((petal_reader *)(intptr_t)reader, &filter, &error) < 0)
        fail(env, &error, NULL, true);
    return handle_of(filter);
}

JNIEXPORT void JNICALL Java_petal_Core_readerFree(JNIEnv *env, jclass type, jlong reader)
{
    (void)env, (void)type;
    petal_reader_free((petal_reader *)(intptr_t)reader);
}

struct sink {
    JNIEnv *env;
    jobject stream;
    jbyteArray buffer;
    jsize room;
};

static int32_t write_piece(void *context, const void *bytes, size_t size)
{
    struct sink *sink = context;
    JNIEnv *env = sink->env;
    for (size_t from = 0; from < size;) {
        jsize count = size - from < (size_t)sink->room ? (jsize)(size - from) : sink->room;
        (*env)->SetByteArrayRegion(env, sink->buffer, 0, count, (const jbyte *)bytes + from);
        (*env)->CallVoidMethod(env, sink->stream, output_write, sink->buffer, 0, count);
        if ((*env)->ExceptionCheck(env)) return 1;
        from += (size_t)count;
    }
    return 0;
}

static petal_save_options save_options_of(const char *format, jint flags)
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    options.format = format;
    options.flags = (uint32_t)flags;
    return options;
}

JNIEXPORT void JNICALL Java_petal_Core_write(JNIEnv *env, jobject self, jlong handle,
                                             jbyteArray format, jobject stream, jbyteArray buffer)
{
    petal_error error;
    (void)self;
    char *name = copy_of(env, format, NULL);
    if ((*env)->ExceptionCheck(env)) return;
    struct sink sink = {env, stream, buffer, (*env)->GetArrayLength(env, buffer)};
    petal_save_options options = save_options_of(name, 0);
    petal_status status = petal_write(filter_of(handle), &options, write_piece, &sink, &error);
    free(name);
    if (status < 0 && !(*env)->ExceptionCheck(env)) fail(env, &error, NULL, true);
}

/* ---- files and bytes ------------------------------------------------------------------------- */

JNIEXPORT void JNICALL Java_petal_Core_save(JNIEnv *env, jobject self, jlong handle,
                                            jbyteArray path, jbyteArray format, jint flags)
{
    petal_error error;
    (void)self;
    char *name = copy_of(env, path, NULL);
    char *format_name = copy_of(env, format, NULL);
    petal_save_options options = save_options_of(format_name, flags);
    if (!(*env)->ExceptionCheck(env) && petal_save(filter_of(handle), name, &options, &error) < 0)
        fail(env, &error, path, true);
    free(name);
    free(format_name);
}

JNIEXPORT void JNICALL Java_petal_Core_sync(JNIEnv *env, jobject self, jlong handle,
                                            jbyteArray path)
{
    petal_error error;
    (void)self;
    if (petal_sync(filter_of(handle), &error) < 0) fail(env, &error, path, true);
}

JNIEXPORT jboolean JNICALL Java_petal_Core_verify(JNIEnv *env, jobject self, jlong handle,
                                                  jbyteArray path)
{
    petal_error error;
    (void)self;
    petal_status status = petal_verify(filter_of(handle), &error);
    if (status < 0) fail(env, &error, path, true);
    return status == PETAL_OK;
}

static void fail_size(JNIEnv *env, uint64_t size)
{
    petal_error error = {.status = PETAL_ERR_LIMIT, .offset = PETAL_NO_OFFSET};
    snprintf(error.message, sizeof error.message,
             "the file has %llu bytes, more than an array holds; use save() or write()",
             (unsigned long long)size);
    fail(env, &error, NULL, false);
}

JNIEXPORT jbyteArray JNICALL Java_petal_Core_toBytes(JNIEnv *env, jobject self, jlong handle,
                                                     jbyteArray format)
{
    petal_error error;
    const petal_filter *filter = filter_of(handle);
    (void)self;
    char *name = copy_of(env, format, NULL);
    if ((*env)->ExceptionCheck(env)) return NULL;
    petal_save_options options = save_options_of(name, 0);
    uint64_t size = petal_serialized_bytes(filter, &options);
    bool fits = size <= INT32_MAX - 8; /* a Java array has fewer than 2^31 bytes */
    void *bytes = fits ? malloc((size_t)size + 1) : NULL;
    jbyteArray array = NULL;
    if (!fits) {
        fail_size(env, size);
    } else if (!bytes) {
        fail_memory(env);
    } else if (petal_serialize(filter, &options, bytes, size, &error) < 0) {
        fail(env, &error, NULL, false);
    } else {
        array = (*env)->NewByteArray(env, (jsize)size);
        if (array) (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, bytes);
    }
    free(bytes);
    free(name);
    return array;
}

/* ---- whole filters --------------------------------------------------------------------------- */

JNIEXPORT void JNICALL Java_petal_Core_combine(JNIEnv *env, jobject self, jlong handle, jlong other,
                                               jboolean unite)
{
    petal_error error;
    (void)self;
    petal_status status = unite ? petal_merge(filter_of(handle), filter_of(other), &error)
                                : petal_intersect(filter_of(handle), filter_of(other), &error);
    if (status < 0) fail(env, &error, NULL, false);
}

JNIEXPORT void JNICALL Java_petal_Core_clear(JNIEnv *env, jobject self, jlong handle)
{
    petal_error error;
    (void)self;
    if (petal_clear(filter_of(handle), &error) < 0) fail(env, &error, NULL, false);
}

JNIEXPORT void JNICALL Java_petal_Core_freeze(JNIEnv *env, jobject self, jlong handle)
{
    petal_error error;
    (void)self;
    if (petal_freeze(filter_of(handle), &error) < 0) fail(env, &error, NULL, false);
}

JNIEXPORT void JNICALL Java_petal_Core_advance(JNIEnv *env, jobject self, jlong handle,
                                               jlong now_ms)
{
    petal_error error;
    (void)self;
    if (petal_set_clock(filter_of(handle), (uint64_t)now_ms, &error) < 0)
        fail(env, &error, NULL, false);
}

/* ---- formats --------------------------------------------------------------------------------- */

JNIEXPORT jbyteArray JNICALL Java_petal_Core_version(JNIEnv *env, jclass type)
{
    (void)type;
    return bytes_of(env, petal_version());
}

/* Stores a format's name and key description, and returns its abilities, or -1 if there is no such
 * format. */
JNIEXPORT jint JNICALL Java_petal_Core_format(JNIEnv *env, jclass type, jint place,
                                              jobjectArray texts)
{
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    (void)type;
    if (!petal_format_at((uint32_t)place, &info)) return -1;
    for (int i = 0; i < 2; i++) {
        jbyteArray bytes = bytes_of(env, i == 0 ? info.name : info.keys);
        if (!bytes) return -1;
        (*env)->SetObjectArrayElement(env, texts, i, bytes);
    }
    return (jint)info.abilities;
}

/* Returns the formats' names, separated by spaces. */
JNIEXPORT jbyteArray JNICALL Java_petal_Core_recognize(JNIEnv *env, jclass type, jbyteArray data)
{
    const char *names[64];
    char list[64 * 32] = "";
    uint64_t size;
    (void)type;
    void *copy = copy_of(env, data, &size);
    if (!copy) return NULL;
    uint64_t count = petal_recognize(copy, size, names, 64);
    free(copy);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (i > 0) strcat(list, " ");
        strncat(list, names[i], 30);
    }
    return bytes_of(env, list);
}

/* ---- Parquet files --------------------------------------------------------------------------- */

enum { PARQUET_LINE_BYTES = PETAL_PARQUET_COLUMN_BYTES + 128 };

static jbyteArray parquet_lines(JNIEnv *env, const petal_parquet_filter *list, uint64_t count)
{
    char *text = malloc((size_t)count * PARQUET_LINE_BYTES + 1);
    size_t at = 0;
    if (!text) {
        fail_memory(env);
        return NULL;
    }
    text[0] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        const petal_parquet_filter *one = &list[i];
        at += (size_t)snprintf(text + at, PARQUET_LINE_BYTES, "%u %u %s %llu %llu %d %s\n",
                               one->row_group, one->column_number, one->physical_type,
                               (unsigned long long)one->offset, (unsigned long long)one->size_bytes,
                               one->encrypted, one->column);
    }
    jbyteArray lines = bytes_of(env, text);
    free(text);
    return lines;
}

/* Returns one line per filter, which ParquetFilter.java parses. */
JNIEXPORT jbyteArray JNICALL Java_petal_Core_parquetFilters(JNIEnv *env, jclass type,
                                                            jobject buffer, jint from, jint size)
{
    petal_error error;
    uint64_t count = 0;
    petal_parquet_filter *list = NULL;
    jbyteArray lines = NULL;
    const char *bytes = (*env)->GetDirectBufferAddress(env, buffer);
    (void)type;
    bytes = bytes ? bytes + from : "";
    petal_status status = petal_parquet_list(bytes, (uint64_t)size, NULL, 0, &count, &error);
    if (status >= 0 && count > 0) {
        list = malloc((size_t)count * sizeof *list);
        if (list) status = petal_parquet_list(bytes, (uint64_t)size, list, count, &count, &error);
    }
    if (status < 0)
        fail(env, &error, NULL, true);
    else if (count > 0 && !list)
        fail_memory(env);
    else
        lines = parquet_lines(env, list, count);
    free(list);
    return lines;
}
