/* spool.c - implements the temporary file for building a static filter from more keys than fit into
 * memory (filter/static_spill.c). The file has no name, so it disappears when the process ends,
 * even if it crashes. */
#include "base/error.h"
#include "base/memory.h"
#include "filter/static_builder.h"
#include "os/os.h"
#include "petal/petal_build.h"

#define MAX_FOLDER_SHOWN 160

struct spool {
    const petal_allocator *allocator; /* the builder's */
    struct file file;
    char folder[MAX_FOLDER_SHOWN + 1]; /* for messages */
};

/* The error message names the folder, since the caller may not know about this file. */
static petal_status fail(const struct spool *spool, const char *what, const petal_error *cause,
                         petal_error *error)
{
    char text[sizeof spool->folder + 64];
    if (cause->status != PETAL_ERR_IO)
        return petal_fail(error, cause->status, "%s", cause->message);
    petal_text(text, sizeof text, "cannot %s a temporary file in %s", what, spool->folder);
    return petal_fail_errno(error, cause->system_errno, text);
}

static petal_status write_part(void *context, uint64_t offset, const void *bytes,
                               uint64_t size_bytes, petal_error *error)
{
    const struct spool *spool = context;
    petal_error cause;
    petal_status status = petal_os_write(&spool->file, offset, bytes, size_bytes, &cause);
    return status == PETAL_OK ? status : fail(spool, "write", &cause, error);
}

static petal_status read_part(void *context, uint64_t offset, void *bytes, uint64_t size_bytes,
                              petal_error *error)
{
    const struct spool *spool = context;
    uint64_t got;
    petal_error cause;
    petal_status status = petal_os_read(&spool->file, offset, bytes, size_bytes, &got, &cause);
    if (status != PETAL_OK) return fail(spool, "read", &cause, error);
    if (got == size_bytes) return PETAL_OK;
    return petal_fail(error, PETAL_ERR_IO, "a temporary file in %s was cut off", spool->folder);
}

static void close_spool(void *context)
{
    struct spool *spool = context;
    petal_os_close(&spool->file);
    petal_release(spool->allocator, spool, sizeof *spool);
}

static petal_status give(petal_static_builder *builder, struct spool *spool, const char *folder,
                         uint64_t memory_bytes, petal_error *error)
{
    const struct static_spill_file file = {spool, write_part, read_part, close_spool};
    petal_error cause;
    petal_text(spool->folder, sizeof spool->folder, "%.*s", MAX_FOLDER_SHOWN, folder);
    petal_status status = petal_os_open_temporary(folder, &spool->file, &cause);
    if (status != PETAL_OK) return fail(spool, "create", &cause, error);
    return petal_static_builder_spill(builder, memory_bytes, &file, error);
}

petal_status petal_static_spill(petal_static_builder *builder, const char *folder,
                                uint64_t memory_bytes, petal_error *error)
{
    if (PETAL_IS_READ_ONLY) return petal_refuse_read_only(error);
    petal_status status = petal_static_builder_check_spill(builder, memory_bytes, error);
    if (status != PETAL_OK) return status;
    const petal_allocator *allocator = petal_static_builder_allocator(builder);
    struct spool *made = petal_alloc(allocator, sizeof *made);
    if (!made) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    made->allocator = allocator;
    made->file = PETAL_NO_FILE;
    status = give(builder, made, folder, memory_bytes, error);
    if (status != PETAL_OK) close_spool(made);
    return status;
}
