/* work.c - runs a batch in the core, and handles its failure. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- one batch of an index ------------------------------------------------------------------- */

bool rows_are_current(filter_object *self, struct rows *rows)
{
    if (!rows->begun) {
        petal_index_info info = PETAL_INDEX_INFO_INIT;
        petal_index_get_info(self->index, &info, NULL);
        *rows = (struct rows){.row_words = info.row_words, .begun = true, .changes = self->changes};
    }
    return rows->changes == self->changes;
}

static bool rows_reserve(struct rows *rows, uint64_t more)
{
    uint64_t wanted = rows->count + more;
    if (wanted <= rows->room || rows->row_words == 0) return true;
    if (wanted < 2 * rows->room) wanted = 2 * rows->room;
    if (wanted > PY_SSIZE_T_MAX / sizeof *rows->words / rows->row_words) return false;
    uint64_t *words = realloc(rows->words, (size_t)(wanted * rows->row_words) * sizeof *words);
    if (!words) return false;
    rows->words = words;
    rows->room = wanted;
    return true;
}

static bool fail(struct work *work, petal_status status, const char *message)
{
    work->error.status = status;
    work->error.offset = PETAL_NO_OFFSET;
    work->error.system_errno = 0;
    PyOS_snprintf(work->error.message, sizeof work->error.message, "%s", message);
    return false;
}

bool which_run(struct work *work, const petal_batch *batch, uint8_t *answers)
{
    struct rows *rows = work->rows;
    uint64_t none = 0;                         /* row for an index without filters */
    if (!rows_are_current(work->filter, rows)) /* the index's filters may have been renumbered */
        return fail(work, PETAL_ERR_ARGUMENT, "the index was changed during the call");
    if (!rows_reserve(rows, batch->count)) return fail(work, PETAL_ERR_MEMORY, "no memory");
    uint64_t *at = rows->words ? rows->words + rows->count * rows->row_words : &none;
    if (petal_index_query(work->filter->index, batch, at, rows->row_words, &work->error) < 0)
        return false;
    rows->count += batch->count;
    if (answers) memset(answers, 1, (size_t)batch->count);
    return true;
}

/* ---- one batch of a filter ------------------------------------------------------------------- */

static bool run_plain(struct work *work, const petal_batch *batch, uint8_t *answers)
{
    petal_batch_outcome outcome = PETAL_BATCH_OUTCOME_INIT;
    petal_filter *core = work->filter->core;
    petal_error *error = &work->error;
    petal_status status = PETAL_OK;
    bool answer = false;
    switch (work->verb) {
    case VERB_ADD: status = petal_add_batch(core, batch, answers, &outcome, error); break;
    case VERB_CONTAINS: status = petal_contains_batch(core, batch, answers, &outcome, error); break;
    case VERB_DISCARD: status = petal_remove_batch(core, batch, answers, &outcome, error); break;
    case VERB_ANY: status = petal_contains_any(core, batch, &answer, error); break;
    case VERB_ALL: status = petal_contains_all(core, batch, &answer, error); break;
    case VERB_WHICH: return which_run(work, batch, answers);
    case VERB_COLLECT: status = petal_static_add(work->builder, 0, batch, error); break;
    }
    work->done += outcome.done;
    work->positive += outcome.positive;
    if (status < 0) return false;
    if (work->verb == VERB_ANY) work->answer = work->decided = answer;
    if (work->verb == VERB_ALL) work->decided = !(work->answer = answer);
    return true;
}

static bool is_empty(const petal_batch *batch, uint64_t i)
{
    switch (batch->layout) {
    case PETAL_LAYOUT_POINTERS: return ((const petal_key *)batch->data)[i].size_bytes == 0;
    case PETAL_LAYOUT_OFFSETS32:
        return ((const uint32_t *)batch->offsets)[i] == ((const uint32_t *)batch->offsets)[i + 1];
    case PETAL_LAYOUT_OFFSETS64:
        return ((const uint64_t *)batch->offsets)[i] == ((const uint64_t *)batch->offsets)[i + 1];
    default: return false;
    }
}

/* Returns the part of a batch with the keys from `from` up to `to`. The batch has pointers or
 * offsets. */
static petal_batch part(const petal_batch *batch, uint64_t from, uint64_t to)
{
    petal_batch some = *batch;
    some.count = to - from;
    if (batch->layout == PETAL_LAYOUT_POINTERS)
        some.data = (const petal_key *)batch->data + from;
    else if (batch->layout == PETAL_LAYOUT_OFFSETS32)
        some.offsets = (const uint32_t *)batch->offsets + from;
    else
        some.offsets = (const uint64_t *)batch->offsets + from;
    return some;
}

/* Some libraries ignore the empty key. In filters from such libraries, this skips empty keys and
 * counts them. */
static bool run_without_empty(struct work *work, const petal_batch *batch, uint8_t *answers)
{
    for (uint64_t from = 0, to; from < batch->count; from = to + 1) {
        for (to = from; to < batch->count && !is_empty(batch, to);) to++;
        petal_batch some = part(batch, from, to);
        if (to > from && !run_plain(work, &some, answers ? answers + from : NULL)) {
            if (work->error.offset < some.count) work->error.offset += from;
            return false;
        }
        if (to == batch->count) break;
        if (answers) answers[to] = 0;
        work->empty_skipped++;
    }
    return true;
}

bool work_run(struct work *work, const petal_batch *batch, uint8_t *answers)
{
    bool may_have_empty = batch->layout <= PETAL_LAYOUT_OFFSETS64;
    if (work->verb == VERB_ADD && !work->filter->empty_key && may_have_empty)
        return run_without_empty(work, batch, answers);
    return run_plain(work, batch, answers);
}

PyObject *work_raise(struct work *work)
{
    return raise_error(work->filter->state, &work->error, work->filter->path);
}

bool work_warn(struct work *work)
{
    return work->empty_skipped == 0 ||
           PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                            "%llu empty keys skipped: filters of this scheme take none",
                            (unsigned long long)work->empty_skipped) == 0;
}

/* Adds a key's index in the batch to the key's exception, as the attribute `offset` and as a
 * note. */
void note_index(uint64_t index)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *number = PyLong_FromUnsignedLongLong(index);
    PyObject *note = number ? PyUnicode_FromFormat("at index %S of the keys", number) : NULL;
    PyObject *noted = note ? PyObject_CallMethod(value, "add_note", "O", note) : NULL;
    if (!noted || PyObject_SetAttrString(value, "offset", number) < 0) PyErr_Clear();
    Py_XDECREF(noted);
    Py_XDECREF(note);
    Py_XDECREF(number);
    PyErr_Restore(type, value, traceback);
}
