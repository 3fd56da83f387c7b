/* inside.c - returns information about filters, plans and formats in the dataclasses of
 * petal/_types.py. */
#include "module.h"

#include <petal/petal_parquet.h>

#include <math.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Calls a class with a dict as keyword arguments, and takes ownership of the dict. Returns NULL if
 * the dict is NULL, or if putting a member into it failed. */
static PyObject *made_of(PyObject *type, PyObject *members)
{
    PyObject *nothing = members && !PyErr_Occurred() ? PyTuple_New(0) : NULL;
    PyObject *made = nothing ? PyObject_Call(type, nothing, members) : NULL;
    Py_XDECREF(nothing);
    Py_XDECREF(members);
    return made;
}

/* If this fails, it sets an exception, which made_of() detects. */
static void put(PyObject *members, const char *name, PyObject *value)
{
    if (value && members && !PyErr_Occurred()) PyDict_SetItemString(members, name, value);
    Py_XDECREF(value);
}

static void put_count(PyObject *members, const char *name, uint64_t value)
{
    put(members, name, PyLong_FromUnsignedLongLong(value));
}

static void put_bool(PyObject *members, const char *name, bool value)
{
    put(members, name, PyBool_FromLong(value));
}

static void put_text(PyObject *members, const char *name, const char *text)
{
    put(members, name, text ? PyUnicode_FromString(text) : Py_NewRef(Py_None));
}

/* Converts 0, which means "not this kind" or "not recorded", to None. */
static void put_known(PyObject *members, const char *name, uint64_t value)
{
    put(members, name, value ? PyLong_FromUnsignedLongLong(value) : Py_NewRef(Py_None));
}

static void put_rate(PyObject *members, const char *name, double value)
{
    put(members, name, isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value));
}

static void put_estimate(PyObject *members, const char *name, const petal_estimate *estimate)
{
    put(members, name, Py_BuildValue("(ddd)", estimate->value, estimate->low, estimate->high));
}

/* ---- info ------------------------------------------------------------------------------------ */

static const struct {
    uint32_t mask;
    const char *name;
} abilities[] = {
    {PETAL_CAN_ADD, "add"},
    {PETAL_CAN_REMOVE, "remove"},
    {PETAL_CAN_HASHES, "hashes"},
    {PETAL_CAN_MERGE, "merge"},
    {PETAL_CAN_INTERSECT, "intersect"},
    {PETAL_CAN_COMPARE, "compare"},
    {PETAL_CAN_CREATE_LIKE, "like"},
    {PETAL_CAN_ALLOW_THREADS, "share"},
    {PETAL_CAN_GROW, "grow"},
    {PETAL_CAN_WINDOW, "window"},
    {PETAL_CAN_MAP, "map"},
    {PETAL_CAN_SAVE, "save"},
    {PETAL_CAN_STATS, "stats"},
    {PETAL_CAN_DROP_COUNTS, "drop_counts"},
    {PETAL_CAN_EMPTY_KEY, "empty_key"},
    {PETAL_CAN_CLEAR, "clear"},
    {PETAL_CAN_FOLD, "fold"},
};

static PyObject *set_of_abilities(uint32_t mask)
{
    PyObject *names = PySet_New(NULL);
    for (size_t i = 0; names && i < sizeof abilities / sizeof *abilities; i++) {
        if (!(mask & abilities[i].mask)) continue;
        PyObject *name = PyUnicode_FromString(abilities[i].name);
        if (!name || PySet_Add(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    PyObject *frozen = names ? PyFrozenSet_New(names) : NULL;
    Py_XDECREF(names);
    return frozen;
}

static const char *policy_name(uint32_t policy)
{
    static const char *const names[] = {NULL, "growing", "keys", "time"};
    return policy < sizeof names / sizeof *names ? names[policy] : NULL;
}

/* Returns the information that petal.h provides without reading the filter's bits, as a single
 * Python object. */
struct inside {
    petal_info info;
    petal_layers_info layers;
    petal_file_info file;
};

static struct inside inside_init(void)
{
    struct inside made = {PETAL_INFO_INIT, PETAL_LAYERS_INFO_INIT, PETAL_FILE_INFO_INIT};
    return made;
}

static PyObject *info_object(struct state *state, const struct inside *inside)
{
    const petal_info *info = &inside->info;
    const petal_layers_info *layers = &inside->layers;
    const petal_file_info *file = &inside->file;
    PyObject *members = PyDict_New();
    put_text(members, "format", info->format_name);
    put_text(members, "scheme", info->scheme_name);
    put_text(members, "hash", info->hash_name);
    put_known(members, "capacity", info->capacity);
    put_rate(members, "rate", info->target_rate);
    put_rate(members, "predicted_rate", info->predicted_rate);
    put_count(members, "items", info->items);
    put_count(members, "bits", info->bits);
    put_count(members, "bytes", info->bytes);
    put_count(members, "memory_bytes", info->memory_bytes);
    put_count(members, "hashes", info->hashes);
    put_known(members, "lines_per_key", info->lines_per_key);
    put_known(members, "counter_bits", info->counter_bits);
    put_count(members, "layers", info->layers);
    put_count(members, "seed", info->seed);
    put_bool(members, "keyed", info->keyed);
    put_known(members, "secret_id", info->secret_id);
    put_text(members, "key_type", key_type_name(info->key_type));
    put_text(members, "policy", policy_name(info->policy));
    put_known(members, "growth_step", layers->growth_step);
    put_rate(members, "growth_ratio", layers->growth_step ? layers->growth_ratio : NAN);
    put_known(members, "window", layers->window_keys);
    put_known(members, "window_ms", layers->window_ms);
    put_known(members, "clock_ms", layers->clock_ms);
    put_known(members, "generations", layers->generations);
    put_count(members, "metadata_bytes", info->metadata_bytes);
    put_bool(members, "live", file->live);
    put_count(members, "recovered_blocks", file->recovered_blocks);
    put_bool(members, "verifiable", file->verifiable);
    put_bool(members, "verifies", file->verifies_on_use);
    put_count(members, "unchecked_blocks", file->unchecked_blocks);
    put_text(members, "file_format", file->format_name);
    put_text(members, "kernel", info->kernel_name);
    put(members, "abilities", set_of_abilities(info->abilities));
    put(members, "_shape",
        Py_BuildValue("(IIIIKI)", info->scheme, info->hashes, info->lines_per_key, info->layers,
                      (unsigned long long)info->bits, info->policy));
    return made_of(state->info, members);
}

/* Parses a layer's number. None means the whole filter. */
static bool read_layer(PyObject *args, PyObject *kwargs, uint32_t *layer)
{
    static char *names[] = {"layer", NULL};
    PyObject *given = NULL;
    uint64_t number = PETAL_ALL_LAYERS;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &given) ||
        !u64_read(given, "layer", &number))
        return false;
    *layer = number < PETAL_ALL_LAYERS ? (uint32_t)number : PETAL_ALL_LAYERS;
    if (!given || given == Py_None || number < PETAL_ALL_LAYERS) return true;
    PyErr_SetString(PyExc_OverflowError, "there is no such layer");
    return false;
}

PyObject *filter_info(filter_object *self, PyObject *args, PyObject *kwargs)
{
    struct inside inside = inside_init();
    petal_error error;
    uint32_t layer;
    if (!read_layer(args, kwargs, &layer) || !may_query(self)) return NULL;
    if (petal_get_info(self->core, layer, &inside.info, &error) < 0 ||
        petal_get_layers_info(self->core, layer, &inside.layers, &error) < 0 ||
        petal_get_file_info(self->core, &inside.file, &error) < 0)
        return raise_error(self->state, &error, self->path);
    return info_object(self->state, &inside);
}

/* ---- what the bits say ----------------------------------------------------------------------- */

PyObject *filter_stats(filter_object *self, PyObject *args, PyObject *kwargs)
{
    petal_stats stats = PETAL_STATS_INIT;
    petal_error error;
    petal_status status;
    uint32_t layer;
    if (!read_layer(args, kwargs, &layer) || !enter_query(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_get_stats(self->core, layer, &stats, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    if (status < 0) return raise_error(self->state, &error, self->path);
    PyObject *members = PyDict_New();
    put_count(members, "bits_set", stats.bits_set);
    put(members, "fill", PyFloat_FromDouble(stats.fill));
    put_estimate(members, "estimated_items", &stats.estimated_items);
    put(members, "estimated_rate", PyFloat_FromDouble(stats.estimated_rate));
    put_bool(members, "overfull", stats.overfull);
    put_bool(members, "saturated", stats.saturated);
    put_count(members, "saturated_counters", stats.saturated_counters);
    return made_of(self->state->stats, members);
}

static PyObject *comparison_object(struct state *state, const petal_comparison *c)
{
    PyObject *members = PyDict_New();
    put_estimate(members, "items_a", &c->items_a);
    put_estimate(members, "items_b", &c->items_b);
    put_estimate(members, "union_items", &c->union_items);
    put_estimate(members, "intersection", &c->intersection);
    put_estimate(members, "jaccard", &c->jaccard);
    put_estimate(members, "containment_a_in_b", &c->containment_a_in_b);
    put_estimate(members, "containment_b_in_a", &c->containment_b_in_a);
    put_bool(members, "saturated", c->saturated);
    return made_of(state->comparison, members);
}

PyObject *filter_compare(filter_object *self, PyObject *object)
{
    petal_comparison comparison = PETAL_COMPARISON_INIT;
    petal_error error;
    petal_status status;
    if (!is_filter(self->state, object)) {
        PyErr_SetString(PyExc_TypeError, "a Filter is compared with a Filter");
        return NULL;
    }
    filter_object *other = (filter_object *)object;
    if (!enter_queries(self, other)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_compare(self->core, other->core, &comparison, &error);
    Py_END_ALLOW_THREADS
    leave(other);
    leave(self);
    if (status < 0) return raise_error(self->state, &error, NULL);
    return comparison_object(self->state, &comparison);
}

/* ---- without a filter ------------------------------------------------------------------------ */

PyObject *module_plan(PyObject *module, PyObject *args, PyObject *kwargs)
{
    struct state *state = state_of_module(module);
    struct options options;
    struct inside plan = inside_init();
    petal_error error;
    petal_status status;
    if (!options_read(args, kwargs, &options)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_plan(&options.core, &plan.info, &plan.layers, &error);
    Py_END_ALLOW_THREADS
    options_release(&options);
    return status < 0 ? raise_error(state, &error, NULL) : info_object(state, &plan);
}

/* _rate_at(shape, keys): Info.rate_at(). */
PyObject *module_rate_at(PyObject *module, PyObject *args)
{
    petal_info info = PETAL_INFO_INIT;
    unsigned long long bits;
    PyObject *keys;
    uint64_t count = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "(IIIIKI)O", &info.scheme, &info.hashes, &info.lines_per_key,
                          &info.layers, &bits, &info.policy, &keys) ||
        !u64_read(keys, "keys", &count))
        return NULL;
    info.bits = bits;
    double rate = petal_predict_rate(&info, count);
    return isnan(rate) ? Py_NewRef(Py_None) : PyFloat_FromDouble(rate);
}

static PyObject *format_object(struct state *state, const petal_format_info *info)
{
    PyObject *members = PyDict_New();
    put_text(members, "name", info->name);
    put_text(members, "keys", info->keys);
    put_bool(members, "can_read", info->abilities & PETAL_FORMAT_CAN_READ);
    put_bool(members, "can_write", info->abilities & PETAL_FORMAT_CAN_WRITE);
    put_bool(members, "can_create", info->abilities & PETAL_FORMAT_CAN_CREATE);
    put_bool(members, "can_recognize", info->abilities & PETAL_FORMAT_CAN_RECOGNIZE);
    put_bool(members, "can_map", info->abilities & PETAL_FORMAT_CAN_MAP);
    put_bool(members, "has_checksum", info->abilities & PETAL_FORMAT_HAS_CHECKSUM);
    return made_of(state->format, members);
}

PyObject *module_formats(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    petal_format_info info = PETAL_FORMAT_INFO_INIT;
    (void)unused;
    for (uint32_t i = 0; list && petal_format_at(i, &info); i++) {
        PyObject *format = format_object(state_of_module(module), &info);
        if (!format || PyList_Append(list, format) < 0) Py_CLEAR(list);
        Py_XDECREF(format);
    }
    return list;
}

/* ---- Parquet --------------------------------------------------------------------------------- */

static PyObject *parquet_object(struct state *state, const petal_parquet_filter *one)
{
    PyObject *members = PyDict_New();
    put(members, "column",
        PyUnicode_DecodeUTF8(one->column, (Py_ssize_t)strlen(one->column), "replace"));
    put_count(members, "column_number", one->column_number);
    put_count(members, "row_group", one->row_group);
    put_text(members, "physical_type", one->physical_type);
    put_count(members, "offset", one->offset);
    put_count(members, "bytes", one->size_bytes);
    put_bool(members, "encrypted", one->encrypted);
    return made_of(state->parquet_filter, members);
}

static PyObject *parquet_objects(struct state *state, const petal_parquet_filter *list,
                                 uint64_t count)
{
    PyObject *objects = PyList_New(0);
    for (uint64_t i = 0; objects && i < count; i++) {
        PyObject *one = parquet_object(state, &list[i]);
        if (!one || PyList_Append(objects, one) < 0) Py_CLEAR(objects);
        Py_XDECREF(one);
    }
    return objects;
}

PyObject *module_parquet_filters(PyObject *module, PyObject *object)
{
    struct state *state = state_of_module(module);
    petal_parquet_filter *list = NULL;
    petal_error error;
    PyObject *objects = NULL;
    uint64_t count = 0;
    Py_buffer data;
    if (PyObject_GetBuffer(object, &data, PyBUF_SIMPLE) < 0) return NULL;
    uint64_t size = (uint64_t)data.len;
    petal_status status = petal_parquet_list(data.buf, size, NULL, 0, &count, &error);
    if (status >= 0) list = PyMem_Calloc((size_t)count + 1, sizeof *list);
    if (list) status = petal_parquet_list(data.buf, size, list, count, &count, &error);
    if (status < 0)
        raise_error(state, &error, NULL);
    else
        objects = list ? parquet_objects(state, list, count) : PyErr_NoMemory();
    PyMem_Free(list);
    PyBuffer_Release(&data);
    return objects;
}
