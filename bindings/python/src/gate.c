/* gate.c - coordinates calls on a filter, or on an index, while the GIL is released: any number of
 * queries can run, or a single change. All other calls wait for their turn without holding the GIL.
 *
 * The GIL guards the gate's state. A call for one key holds the GIL throughout, so it only checks
 * the state. A call that releases the GIL counts itself in `users`. A call that must wait sleeps
 * until the next leave(); the mutex ensures that it doesn't miss the signal. A waiting change takes
 * precedence over new queries, because otherwise it might wait forever. */
#include "module.h"

void gate_init(filter_object *self)
{
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->freed, NULL);
}

void gate_end(filter_object *self)
{
    pthread_mutex_destroy(&self->mutex);
    pthread_cond_destroy(&self->freed);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool is_mine(filter_object *self)
{
    unsigned long thread = PyThread_get_thread_ident();
    for (struct writing *one = self->writing; one; one = one->next)
        if (one->thread == thread) return true;
    return false;
}

static bool wait_for_leave(filter_object *self)
{
    if (is_mine(self)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the filter cannot be changed by the file object that it is written to");
        return false;
    }
    uint64_t seen = self->times_freed; /* this value changes only while the GIL is held */
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&self->mutex);
    while (self->times_freed == seen) pthread_cond_wait(&self->freed, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    Py_END_ALLOW_THREADS
    return true;
}

static bool is_open(filter_object *self)
{
    if (self->core || self->index) return true;
    PyErr_SetString(PyExc_ValueError,
                    self->is_index ? "the index is closed" : "the filter is closed");
    return false;
}

static bool wait_for_change(filter_object *self)
{
    bool waited = true;
    self->waiting_to_change++;
    while (waited && self->users != 0) waited = wait_for_leave(self);
    self->waiting_to_change--;
    return waited;
}

bool may_query(filter_object *self)
{
    while (self->users < 0)
        if (!wait_for_leave(self)) return false;
    return is_open(self);
}

bool may_change(filter_object *self)
{
    return (self->users == 0 || wait_for_change(self)) && is_open(self);
}

/* ---- without the GIL ------------------------------------------------------------------------- */

bool enter_query(filter_object *self)
{
    while (self->users < 0 || (self->waiting_to_change > 0 && self->users > 0 && !is_mine(self)))
        if (!wait_for_leave(self)) return false;
    if (!is_open(self)) return false;
    self->users++;
    return true;
}

/* The second query waits only for a running change, which doesn't wait for any other call. If the
 * query waited for waiting changes too, two threads that each hold one of the filters could
 * deadlock. */
bool enter_queries(filter_object *a, filter_object *b)
{
    if (!enter_query(a)) return false;
    while (b->users < 0) {
        if (wait_for_leave(b)) continue;
        leave(a);
        return false;
    }
    if (!is_open(b)) {
        leave(a);
        return false;
    }
    b->users++;
    return true;
}

bool enter_change(filter_object *self)
{
    if (!may_change(self)) return false;
    self->users = -1;
    return true;
}

/* Enters both filters together, so that two threads that use the same filters in opposite order
 * don't deadlock. */
bool enter_both(filter_object *changed, filter_object *queried)
{
    for (;;) {
        if (!may_change(changed)) return false;
        if (queried->users >= 0) break;
        if (!wait_for_leave(queried)) return false;
    }
    if (!is_open(queried)) return false;
    changed->users = -1;
    queried->users++;
    return true;
}

void leave(filter_object *self)
{
    self->users = self->users < 0 ? 0 : self->users - 1;
    pthread_mutex_lock(&self->mutex);
    self->times_freed++;
    pthread_cond_broadcast(&self->freed);
    pthread_mutex_unlock(&self->mutex);
}

/* ---- calls to Python meanwhile --------------------------------------------------------------- */

void begin_writing(filter_object *self, struct writing *writing)
{
    writing->thread = PyThread_get_thread_ident();
    writing->next = self->writing;
    self->writing = writing;
}

void end_writing(filter_object *self, struct writing *writing)
{
    struct writing **at = &self->writing;
    while (*at != writing) at = &(*at)->next;
    *at = writing->next;
}
