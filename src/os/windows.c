/* windows.c - os.h on Windows 10 and later: memory, files and their locks, maps. Replacing is in
 * windows_replace.c.
 *
 * Locks of Windows are mandatory: whoever reads locked bytes through ReadFile() fails. So what is
 * locked is one byte far behind the end of any file. Readers never touch it. */
#include "os/os.h"

#if !defined(PETAL_OS_NONE) && defined(_WIN32)

#include "base/error.h"
#include "os/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static int errno_of(DWORD failure)
{
    switch (failure) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_DRIVE: return ENOENT;
    case ERROR_INVALID_NAME:
    case ERROR_NO_UNICODE_TRANSLATION: return EINVAL;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD:
    case ERROR_USER_MAPPED_FILE: return EACCES;
    case ERROR_WRITE_PROTECT: return EROFS;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_QUOTA_EXCEEDED: return ENOSPC;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: return ENOMEM;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    case ERROR_INVALID_HANDLE: return EBADF;
    default: return EIO;
    }
}

petal_status petal_windows_fail(petal_error *error, const char *what)
{
    return petal_fail_errno(error, errno_of(GetLastError()), what);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* From here on an array gets pages of its own, which cost nothing until they are touched. */
#define OWN_PAGES_BYTES ((size_t)4 << 20)

static void *alloc_zeroed(void *context, size_t size_bytes)
{
    (void)context;
    if (size_bytes < OWN_PAGES_BYTES) return calloc(1, size_bytes);
    return VirtualAlloc(NULL, size_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    if (size_bytes < OWN_PAGES_BYTES)
        free(memory);
    else
        VirtualFree(memory, 0, MEM_RELEASE);
}

const petal_allocator petal_os_allocator = {alloc_zeroed, release, NULL};

/* ---- paths ----------------------------------------------------------------------------------- */

/* From this length on a path is taken only with its prefix, and then as it stands: absolute. */
#define LONG_PATH 240
#define LONG_PREFIX L"\\\\?\\"

static wchar_t *with_prefix(wchar_t *path)
{
    DWORD room = GetFullPathNameW(path, 0, NULL, NULL);
    size_t prefix = wcslen(LONG_PREFIX);
    wchar_t *whole = room ? malloc((room + prefix) * sizeof *whole) : NULL;
    bool good = whole && GetFullPathNameW(path, room, whole + prefix, NULL);
    if (good) memcpy(whole, LONG_PREFIX, prefix * sizeof *whole);
    free(path);
    if (good) return whole;
    free(whole);
    return NULL;
}

wchar_t *petal_windows_wide(const char *path)
{
    int room = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = room > 0 ? malloc((size_t)room * sizeof *wide) : NULL;
    if (!wide) return NULL;
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, room);
    bool is_long = room >= LONG_PATH && wcsncmp(wide, L"\\\\", 2) != 0;
    return is_long ? with_prefix(wide) : wide;
}

char *petal_windows_utf8(const wchar_t *path)
{
    int room = WideCharToMultiByte(CP_UTF8, 0, path, -1, NULL, 0, NULL, NULL);
    char *text = room > 0 ? malloc((size_t)room) : NULL;
    if (text) WideCharToMultiByte(CP_UTF8, 0, path, -1, text, room, NULL, NULL);
    return text;
}

char *petal_windows_resolve(HANDLE handle, const char *given)
{
    DWORD room = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *wide = room ? malloc((room + 1) * sizeof *wide) : NULL;
    char *path = NULL;
    if (wide && GetFinalPathNameByHandleW(handle, wide, room + 1, FILE_NAME_NORMALIZED))
        path = petal_windows_utf8(wide);
    free(wide);
    return path ? path : _strdup(given);
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Behind the end of every file. */
#define LOCKED_BYTE_HIGH 0x40000000u

/* A reader who looks for a lock takes it for a moment: not to be turned away by one, a writer tries
 * so often, a millisecond apart. */
#define LOCK_ATTEMPTS 8

static bool take_lock(HANDLE handle, DWORD flags)
{
    OVERLAPPED at = {.OffsetHigh = LOCKED_BYTE_HIGH};
    return LockFileEx(handle, flags | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at);
}

static bool is_taken(DWORD failure)
{
    return failure == ERROR_LOCK_VIOLATION || failure == ERROR_IO_PENDING;
}

petal_status petal_windows_lock(HANDLE handle, petal_error *error)
{
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (take_lock(handle, LOCKFILE_EXCLUSIVE_LOCK)) return PETAL_OK;
        DWORD failure = GetLastError();
        if (failure == ERROR_NOT_SUPPORTED || failure == ERROR_INVALID_FUNCTION)
            return petal_fail(
                error, PETAL_ERR_UNSUPPORTED,
                "the file system has no locks; if nobody else changes the file, pass --no-lock");
        if (!is_taken(failure)) return petal_windows_fail(error, "cannot lock it");
        petal_os_pause();
    }
    return petal_fail(error, PETAL_ERR_BUSY,
                      "another process is changing it; try again when it has finished");
}

bool petal_os_is_locked_elsewhere(const struct file *file)
{
    HANDLE handle = petal_windows_handle(file);
    OVERLAPPED at = {.OffsetHigh = LOCKED_BYTE_HIGH};
    if (file->is_locked) return false;
    if (!take_lock(handle, 0)) return is_taken(GetLastError());
    UnlockFileEx(handle, 0, 1, 0, &at);
    return false;
}

/* ---- files ----------------------------------------------------------------------------------- */

HANDLE petal_windows_open(const wchar_t *path, DWORD access, DWORD how,
                          SECURITY_ATTRIBUTES *security)
{
    DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    DWORD flags =
        FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS; /* the latter: also a folder */
    HANDLE handle = CreateFileW(path, access, sharing, security, how, flags, NULL);
    return handle == INVALID_HANDLE_VALUE ? NULL : handle;
}

HANDLE petal_windows_handle(const struct file *file)
{
    return (HANDLE)_get_osfhandle(file->descriptor);
}

bool petal_windows_keep(HANDLE handle, struct file *file)
{
    file->descriptor = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (file->descriptor >= 0) return true;
    CloseHandle(handle);
    SetLastError(ERROR_TOO_MANY_OPEN_FILES);
    return false;
}

petal_status petal_windows_check_kind(HANDLE handle, petal_error *error)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "not a regular file; a filter cannot be mapped from it");
    if (!GetFileInformationByHandle(handle, &about))
        return petal_windows_fail(error, "cannot look at it");
    if (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        return petal_fail_errno(error, EISDIR, "cannot open it");
    return PETAL_OK;
}

petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error)
{
    BY_HANDLE_FILE_INFORMATION opened, named;
    wchar_t *wide = petal_windows_wide(path);
    HANDLE other =
        wide ? petal_windows_open(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, NULL) : NULL;
    int failure = other ? 0 : errno_of(GetLastError());
    free(wide);
    if (failure == ENOENT) return PETAL_ERR_REPLACED;
    if (!other) return petal_fail_errno(error, failure, "cannot look at it");
    bool good = GetFileInformationByHandle(petal_windows_handle(file), &opened) &&
                GetFileInformationByHandle(other, &named);
    CloseHandle(other);
    if (!good) return petal_windows_fail(error, "cannot look at it");
    return opened.dwVolumeSerialNumber == named.dwVolumeSerialNumber &&
                   opened.nFileIndexHigh == named.nFileIndexHigh &&
                   opened.nFileIndexLow == named.nFileIndexLow
               ? PETAL_OK
               : PETAL_ERR_REPLACED;
}

petal_status petal_os_open_once(const char *path, enum access access, struct file *file,
                                petal_error *error)
{
    DWORD wanted = access == ACCESS_READ ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE;
    wchar_t *wide = petal_windows_wide(path);
    HANDLE handle = wide ? petal_windows_open(wide, wanted, OPEN_EXISTING, NULL) : NULL;
    free(wide);
    if (!handle || !petal_windows_keep(handle, file))
        return petal_windows_fail(error, "cannot open it");
    petal_status status = petal_windows_check_kind(handle, error);
    if (status == PETAL_OK && access == ACCESS_WRITE) status = petal_windows_lock(handle, error);
    if (status != PETAL_OK) return status;
    file->is_locked = access == ACCESS_WRITE;
    file->path = access == ACCESS_READ ? _strdup(path) : petal_windows_resolve(handle, path);
    file->given = _strdup(path);
    if (!file->path || !file->given) return petal_windows_fail(error, "cannot follow its path");
    return PETAL_OK;
}

/* No process is a fork of another. */
static const uint8_t here = 1;

void petal_os_own(struct file *file)
{
    file->mark = &here;
}

bool petal_os_is_owner(const struct file *file)
{
    (void)file;
    return true;
}

void petal_os_close(struct file *file)
{
    if (file->descriptor >= 0) _close(file->descriptor); /* ends the lock */
    free(file->path);
    free(file->given);
    *file = PETAL_NO_FILE;
}

/* What one call moves at most. */
#define PIECE_BYTES ((uint64_t)1 << 30)

static DWORD piece_of(uint64_t size_bytes)
{
    return (DWORD)(size_bytes < PIECE_BYTES ? size_bytes : PIECE_BYTES);
}

static OVERLAPPED place(uint64_t offset)
{
    return (OVERLAPPED){.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
}

petal_status petal_os_read(const struct file *file, uint64_t offset, void *bytes,
                           uint64_t size_bytes, uint64_t *got, petal_error *error)
{
    *got = 0;
    while (*got < size_bytes) {
        OVERLAPPED at = place(offset + *got);
        DWORD more = 0;
        if (!ReadFile(petal_windows_handle(file), (uint8_t *)bytes + *got,
                      piece_of(size_bytes - *got), &more, &at) &&
            GetLastError() != ERROR_HANDLE_EOF)
            return petal_windows_fail(error, "cannot read it");
        if (more == 0) break;
        *got += more;
    }
    return PETAL_OK;
}

petal_status petal_os_write(const struct file *file, uint64_t offset, const void *bytes,
                            uint64_t size_bytes, petal_error *error)
{
    const uint8_t *from = bytes;
    while (size_bytes > 0) {
        OVERLAPPED at = place(offset);
        DWORD written = 0;
        if (!WriteFile(petal_windows_handle(file), from, piece_of(size_bytes), &written, &at) ||
            written == 0)
            return petal_windows_fail(error, "cannot write");
        from += written;
        size_bytes -= written;
        offset += written;
    }
    return PETAL_OK;
}

void petal_os_pause(void)
{
    Sleep(1);
}

/* ---- mapping --------------------------------------------------------------------------------- */

petal_status petal_os_size(const struct file *file, uint64_t max_bytes, uint64_t *size_bytes,
                           petal_error *error)
{
    LARGE_INTEGER size;
    *size_bytes = 0;
    if (!GetFileSizeEx(petal_windows_handle(file), &size))
        return petal_windows_fail(error, "cannot look at it");
    if (max_bytes && (uint64_t)size.QuadPart > max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, more than the limit of %llu",
                          (unsigned long long)size.QuadPart, (unsigned long long)max_bytes);
    *size_bytes = (uint64_t)size.QuadPart;
    return PETAL_OK;
}

/* Petal makes no sparse files here, so there are no holes to allocate. */
petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error)
{
    *map = (struct mapping){NULL, 0, false};
    petal_status status = petal_os_size(file, max_bytes, &map->size_bytes, error);
    if (status != PETAL_OK || map->size_bytes == 0) return status;
    if (map->size_bytes > SIZE_MAX / 2)
        return petal_fail(error, PETAL_ERR_LIMIT, "too big for the address space of this machine");
    HANDLE mapping = CreateFileMappingW(petal_windows_handle(file), NULL,
                                        writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
    if (!mapping) return petal_windows_fail(error, "cannot map it");
    map->bytes = MapViewOfFile(mapping, writable ? FILE_MAP_WRITE : FILE_MAP_READ, 0, 0,
                               (SIZE_T)map->size_bytes);
    if (!map->bytes) status = petal_windows_fail(error, "cannot map it");
    CloseHandle(mapping); /* the view keeps it */
    return status;
}

void petal_os_unmap(struct mapping *map)
{
    if (map->bytes) UnmapViewOfFile(map->bytes);
    *map = (struct mapping){NULL, 0, false};
}

static uint64_t page_bytes(void)
{
    SYSTEM_INFO about;
    GetSystemInfo(&about);
    return about.dwPageSize;
}

/* FlushViewOfFile() only hands the pages over; FlushFileBuffers() waits for the disk. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error)
{
    uint64_t from = offset - offset % page_bytes();
    if (FlushViewOfFile(map->bytes + from, (SIZE_T)(offset + size_bytes - from)) &&
        FlushFileBuffers(petal_windows_handle(file)))
        return PETAL_OK;
    return petal_windows_fail(error, "cannot write it to disk");
}

void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes)
{
    uint64_t page = page_bytes();
    for (uint64_t at = offset; at < offset + size_bytes; at += page - at % page) {
        volatile uint8_t *byte = map->bytes + at;
        *byte = *byte;
    }
}

#endif
