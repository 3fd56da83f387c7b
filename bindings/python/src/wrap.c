/* wrap.c - wraps the core's filters in objects of type Filter. */
#include "module.h"

filter_object *filter_make(PyTypeObject *type, struct state *state)
{
    filter_object *self = (filter_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->state = state;
    gate_init(self);
    return self;
}

bool filter_take(filter_object *self, petal_filter *core, PyObject *path, uint32_t key_type)
{
    petal_info info = PETAL_INFO_INIT;
    petal_file_info file = PETAL_FILE_INFO_INIT;
    petal_get_info(core, PETAL_ALL_LAYERS, &info, NULL);
    petal_get_file_info(core, &file, NULL);
    if (!key_type_choose(info.key_type, key_type, &key_type)) {
        petal_free(core);
        return false;
    }
    petal_free(self->core);
    Py_XDECREF(self->path);
    self->core = core;
    self->path = Py_XNewRef(path);
    self->key_type = key_type;
    self->empty_key = info.abilities & PETAL_CAN_EMPTY_KEY;
    self->verifies = file.verifies_on_use;
    return true;
}

PyObject *filter_wrap(PyTypeObject *type, struct state *state, petal_filter *core, PyObject *path,
                      uint32_t key_type)
{
    filter_object *self = filter_make(type, state);
    if (!self) {
        petal_free(core);
        return NULL;
    }
    if (filter_take(self, core, path, key_type)) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}
