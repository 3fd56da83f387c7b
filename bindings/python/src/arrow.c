/* arrow.c - reads keys from pyarrow, polars, pandas, duckdb and other libraries that implement the
 * Arrow C data interface, without copying the keys and without importing these libraries:
 * https://arrow.apache.org/docs/format/CDataInterface.html
 *
 * __arrow_c_array__() returns two capsules, which contain a schema and an array.
 * __arrow_c_stream__() returns one capsule, which contains a stream of arrays (the chunks of a
 * column). The interface defines the structs below. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* ---- what a type is as a column -------------------------------------------------------------- */

static bool find_kind(const char *format, struct column *column)
{
    static const struct {
        const char *format;
        enum column_kind kind;
        uint64_t width;
        bool is_text;
    } kinds[] = {
        {"u", COLUMN_OFFSETS32, 0, true},  {"U", COLUMN_OFFSETS64, 0, true},
        {"z", COLUMN_OFFSETS32, 0, false}, {"Z", COLUMN_OFFSETS64, 0, false},
        {"vu", COLUMN_VIEWS, 16, true},    {"vz", COLUMN_VIEWS, 16, false},
        {"c", COLUMN_SIGNED, 1, false},    {"C", COLUMN_UNSIGNED, 1, false},
        {"s", COLUMN_SIGNED, 2, false},    {"S", COLUMN_UNSIGNED, 2, false},
        {"i", COLUMN_SIGNED, 4, false},    {"I", COLUMN_UNSIGNED, 4, false},
        {"l", COLUMN_SIGNED, 8, false},    {"L", COLUMN_UNSIGNED, 8, false},
        {"e", COLUMN_FLOATING, 2, false},  {"f", COLUMN_FLOATING, 4, false},
        {"g", COLUMN_FLOATING, 8, false},  {"n", COLUMN_NULLS, 0, false},
    };
    if (strncmp(format, "w:", 2) == 0) {
        column->kind = COLUMN_FIXED;
        column->width = strtoull(format + 2, NULL, 10);
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].format, format) != 0) continue;
        column->kind = kinds[i].kind;
        column->width = kinds[i].width;
        column->is_text = kinds[i].is_text;
        return true;
    }
    return false;
}

/* In a dictionary-encoded column, each row contains the index of a value. `index` is the type of
 * these indexes. */
struct kinds {
    struct column values, index;
    bool is_indexed;
};

static bool read_schema(const struct ArrowSchema *schema, struct kinds *kinds)
{
    memset(kinds, 0, sizeof *kinds);
    if (schema->dictionary) {
        kinds->is_indexed = find_kind(schema->format, &kinds->index);
        schema = schema->dictionary;
    }
    if (!schema->dictionary && find_kind(schema->format, &kinds->values)) return true;
    if (strcmp(schema->format, "+s") == 0)
        PyErr_SetString(PyExc_TypeError, "a table is no column of keys: choose one");
    else
        PyErr_Format(PyExc_TypeError, "an Arrow column of type '%s' holds no keys", schema->format);
    return false;
}

static void read_array(const struct ArrowArray *array, struct column *column)
{
    uint64_t offset = (uint64_t)array->offset;
    column->count = (uint64_t)array->length;
    column->valid = NULL;
    column->offsets = NULL;
    if (column->kind == COLUMN_NULLS || array->length == 0) return;
    column->valid = array->null_count != 0 ? array->buffers[0] : NULL;
    column->valid_from = offset;
    switch (column->kind) {
    case COLUMN_OFFSETS32: column->offsets = (const uint32_t *)array->buffers[1] + offset; break;
    case COLUMN_OFFSETS64: column->offsets = (const uint64_t *)array->buffers[1] + offset; break;
    default: break;
    }
    if (column->offsets) {
        column->data = array->buffers[2];
        return;
    }
    column->stride = (ptrdiff_t)column->width;
    column->data = (const uint8_t *)array->buffers[1] + offset * column->width;
    if (column->kind == COLUMN_VIEWS) column->buffers = array->buffers + 2;
}

static bool read_rows(const struct ArrowArray *array, struct kinds *kinds)
{
    if (!kinds->is_indexed) {
        read_array(array, &kinds->values);
        return true;
    }
    if (!array->dictionary) {
        PyErr_SetString(PyExc_ValueError, "a dictionary-encoded column without its dictionary");
        return false;
    }
    read_array(array->dictionary, &kinds->values);
    read_array(array, &kinds->index);
    kinds->values.index = &kinds->index;
    kinds->values.value_count = kinds->values.count;
    kinds->values.count = kinds->index.count;
    return true;
}

/* Processes one array and appends its answers. */
static bool run_array(struct work *work, const struct ArrowArray *array, struct kinds *kinds,
                      PyObject *answers)
{
    struct column *column = &kinds->values;
    if (!read_rows(array, kinds)) return false;
    Py_ssize_t before = answers ? PyByteArray_Size(answers) : 0;
    if (answers && PyByteArray_Resize(answers, before + (Py_ssize_t)column->count) < 0)
        return false;
    if (column->count == 0) return true;
    uint8_t *at = answers ? (uint8_t *)PyByteArray_AsString(answers) + before : NULL;
    bool good = column_run(work, column, at);
    work->rows_before += column->count;
    return good;
}

/* ---- capsules -------------------------------------------------------------------------------- */

static bool run_pair(struct work *work, PyObject *capsules, PyObject *answers)
{
    struct kinds kinds;
    if (!PyTuple_Check(capsules) || PyTuple_Size(capsules) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() gave no pair of capsules");
        return false;
    }
    struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(capsules, 0), "arrow_schema");
    struct ArrowArray *array =
        schema ? PyCapsule_GetPointer(PyTuple_GetItem(capsules, 1), "arrow_array") : NULL;
    return array && read_schema(schema, &kinds) && run_array(work, array, &kinds, answers);
}

static bool complain_of_stream(struct ArrowArrayStream *stream)
{
    const char *why = stream->get_last_error(stream);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s",
                     why ? why : "no reason given");
    return false;
}

static bool run_chunks(struct work *work, struct ArrowArrayStream *stream, struct kinds *kinds,
                       PyObject *answers)
{
    for (bool good = true; good && !work->decided;) {
        struct ArrowArray array;
        memset(&array, 0, sizeof array);
        if (stream->get_next(stream, &array) != 0) return complain_of_stream(stream);
        if (!array.release) return true;
        good = run_array(work, &array, kinds, answers);
        array.release(&array);
        if (!good) return false;
    }
    return true;
}

static bool run_stream(struct work *work, PyObject *capsule, PyObject *answers)
{
    struct kinds kinds;
    struct ArrowSchema schema;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream) return false;
    memset(&schema, 0, sizeof schema);
    if (stream->get_schema(stream, &schema) != 0) return complain_of_stream(stream);
    bool good = read_schema(&schema, &kinds);
    if (schema.release) schema.release(&schema);
    return good && run_chunks(work, stream, &kinds, answers);
}

int arrow_run(struct work *work, PyObject *keys, bool flags, PyObject **answers)
{
    static const char *const methods[] = {"__arrow_c_array__", "__arrow_c_stream__"};
    int which = PyObject_HasAttrString(keys, methods[0])   ? 0
                : PyObject_HasAttrString(keys, methods[1]) ? 1
                                                           : -1;
    if (which < 0) return 0;
    PyObject *flat = flags ? PyByteArray_FromStringAndSize(NULL, 0) : NULL;
    PyObject *given = flags && !flat ? NULL : PyObject_CallMethod(keys, methods[which], NULL);
    bool good = given && (which == 0 ? run_pair : run_stream)(work, given, flat);
    Py_XDECREF(given);
    if (good)
        *answers = flags ? flat : Py_NewRef(Py_None);
    else
        Py_XDECREF(flat);
    return good && *answers ? 1 : -1;
}
