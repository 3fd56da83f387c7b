/* windows.c - implements os.h for Windows 10 and later: memory, files, locks, mappings, and the
 * functions that replace.c needs.
 *
 * On Windows, locks are mandatory: ReadFile() fails on locked bytes. So the lock covers one byte
 * far beyond the end of any file, which no reader ever accesses. */
#include "os/common.h"

#if !defined(PETAL_OS_NONE) && defined(_WIN32)

#include "base/error.h"

#define WIN32_LEAN_AND_MEAN
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0a00 /* Windows 10 */
#undef NTDDI_VERSION
#define NTDDI_VERSION 0x0a000006
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <ntsecapi.h>
#include <stdio.h>
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

petal_status petal_os_fail(petal_error *error, const char *what)
{
    return petal_fail_errno(error, errno_of(GetLastError()), what);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Arrays of at least this size are allocated in their own pages, which use no memory until they are
 * touched. */
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

/* Paths of this length or longer need a prefix, and must be absolute. */
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

/* These functions convert a UTF-8 path of any length to Windows' form, and back. If they return
 * NULL, GetLastError() returns the reason. The caller frees the result. */
static wchar_t *wide_of(const char *path)
{
    int room = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = room > 0 ? malloc((size_t)room * sizeof *wide) : NULL;
    if (!wide) return NULL;
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, room);
    bool is_long = room >= LONG_PATH && wcsncmp(wide, L"\\\\", 2) != 0;
    return is_long ? with_prefix(wide) : wide;
}

static char *utf8_of(const wchar_t *path)
{
    int room = WideCharToMultiByte(CP_UTF8, 0, path, -1, NULL, 0, NULL, NULL);
    char *text = room > 0 ? malloc((size_t)room) : NULL;
    if (text) WideCharToMultiByte(CP_UTF8, 0, path, -1, text, room, NULL, NULL);
    return text;
}

/* Returns an open file's path with all symbolic links resolved, or the given path if the system
 * can't resolve it. The caller must free() the result. */
static char *resolve(HANDLE handle, const char *given)
{
    DWORD room = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *wide = room ? malloc((room + 1) * sizeof *wide) : NULL;
    char *path = NULL;
    if (wide && GetFinalPathNameByHandleW(handle, wide, room + 1, FILE_NAME_NORMALIZED))
        path = utf8_of(wide);
    free(wide);
    return path ? path : _strdup(given);
}

static HANDLE handle_of(const struct file *file)
{
    return (HANDLE)_get_osfhandle(file->descriptor);
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* This offset is beyond the end of any file. */
#define LOCKED_BYTE_HIGH 0x40000000u

/* A reader tests a lock by acquiring it briefly. So that such a test doesn't make a writer fail,
 * the writer makes this many attempts, one millisecond apart. */
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

petal_status petal_os_lock(const struct file *file, petal_error *error)
{
    HANDLE handle = handle_of(file);
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (take_lock(handle, LOCKFILE_EXCLUSIVE_LOCK)) return PETAL_OK;
        DWORD failure = GetLastError();
        if (failure == ERROR_NOT_SUPPORTED || failure == ERROR_INVALID_FUNCTION)
            return petal_fail(
                error, PETAL_ERR_UNSUPPORTED,
                "the file system has no locks; if nobody else changes the file, pass --no-lock");
        if (!is_taken(failure)) return petal_os_fail(error, "cannot lock it");
        petal_os_pause();
    }
    return petal_fail(error, PETAL_ERR_BUSY,
                      "another process is changing it; try again when it has finished");
}

bool petal_os_is_locked_elsewhere(const struct file *file)
{
    HANDLE handle = handle_of(file);
    OVERLAPPED at = {.OffsetHigh = LOCKED_BYTE_HIGH};
    if (file->is_locked) return false;
    if (!take_lock(handle, 0)) return is_taken(GetLastError());
    UnlockFileEx(handle, 0, 1, 0, &at);
    return false;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Opens a file. As on POSIX, other processes can still read, change, rename and remove the file. If
 * the result is NULL, GetLastError() returns the reason. */
static HANDLE open_handle(const wchar_t *path, DWORD access, DWORD how,
                          SECURITY_ATTRIBUTES *security)
{
    DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    /* FILE_FLAG_BACKUP_SEMANTICS allows opening folders. */
    DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS;
    HANDLE handle = CreateFileW(path, access, sharing, security, how, flags, NULL);
    return handle == INVALID_HANDLE_VALUE ? NULL : handle;
}

/* Stores the handle in the file, which then owns the handle. On failure, the handle is closed. */
static bool keep(HANDLE handle, struct file *file)
{
    file->descriptor = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (file->descriptor >= 0) return true;
    CloseHandle(handle);
    SetLastError(ERROR_TOO_MANY_OPEN_FILES);
    return false;
}

static petal_status check_kind(HANDLE handle, petal_error *error)
{
    BY_HANDLE_FILE_INFORMATION about;
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return petal_fail(error, PETAL_ERR_UNSUPPORTED,
                          "not a regular file; a filter cannot be mapped from it");
    if (!GetFileInformationByHandle(handle, &about)) return petal_os_fail(error, "cannot stat it");
    if (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        return petal_fail_errno(error, EISDIR, "cannot open it");
    return PETAL_OK;
}

petal_status petal_os_is_at(const struct file *file, const char *path, petal_error *error)
{
    BY_HANDLE_FILE_INFORMATION opened, named;
    wchar_t *wide = wide_of(path);
    HANDLE other = wide ? open_handle(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, NULL) : NULL;
    int failure = other ? 0 : errno_of(GetLastError());
    free(wide);
    if (failure == ENOENT) return PETAL_ERR_REPLACED;
    if (!other) return petal_fail_errno(error, failure, "cannot stat it");
    bool good = GetFileInformationByHandle(handle_of(file), &opened) &&
                GetFileInformationByHandle(other, &named);
    CloseHandle(other);
    if (!good) return petal_os_fail(error, "cannot stat it");
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
    wchar_t *wide = wide_of(path);
    HANDLE handle = wide ? open_handle(wide, wanted, OPEN_EXISTING, NULL) : NULL;
    free(wide);
    if (!handle || !keep(handle, file)) return petal_os_fail(error, "cannot open it");
    petal_status status = check_kind(handle, error);
    bool locks = access == ACCESS_WRITE || access == ACCESS_WRITE_ITSELF;
    if (status == PETAL_OK && locks) status = petal_os_lock(file, error);
    if (status != PETAL_OK) return status;
    file->is_locked = locks;
    file->path = access == ACCESS_READ ? _strdup(path) : resolve(handle, path);
    file->given = _strdup(path);
    if (!file->path || !file->given) return petal_os_fail(error, "cannot follow its path");
    return PETAL_OK;
}

/* Windows has no fork. */
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
    if (file->descriptor >= 0) _close(file->descriptor); /* closing also releases the lock */
    free(file->path);
    free(file->given);
    *file = PETAL_NO_FILE;
}

/* The maximum number of bytes that one system call reads or writes. */
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
        if (!ReadFile(handle_of(file), (uint8_t *)bytes + *got, piece_of(size_bytes - *got), &more,
                      &at) &&
            GetLastError() != ERROR_HANDLE_EOF)
            return petal_os_fail(error, "cannot read it");
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
        if (!WriteFile(handle_of(file), from, piece_of(size_bytes), &written, &at) || written == 0)
            return petal_os_fail(error, "cannot write");
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
    if (!GetFileSizeEx(handle_of(file), &size)) return petal_os_fail(error, "cannot stat it");
    if (max_bytes && (uint64_t)size.QuadPart > max_bytes)
        return petal_fail(error, PETAL_ERR_LIMIT, "has %llu bytes, more than the limit of %llu",
                          (unsigned long long)size.QuadPart, (unsigned long long)max_bytes);
    *size_bytes = (uint64_t)size.QuadPart;
    return PETAL_OK;
}

/* Petal creates no sparse files on Windows, so there are no holes to allocate. */
petal_status petal_os_map(const struct file *file, bool writable, uint64_t max_bytes,
                          struct mapping *map, petal_error *error)
{
    *map = (struct mapping){NULL, 0, false};
    petal_status status = petal_os_size(file, max_bytes, &map->size_bytes, error);
    if (status != PETAL_OK || map->size_bytes == 0) return status;
    if (map->size_bytes > SIZE_MAX / 2)
        return petal_fail(error, PETAL_ERR_LIMIT,
                          "too large for the address space of this machine");
    HANDLE mapping = CreateFileMappingW(handle_of(file), NULL,
                                        writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
    if (!mapping) return petal_os_fail(error, "cannot map it");
    map->bytes = MapViewOfFile(mapping, writable ? FILE_MAP_WRITE : FILE_MAP_READ, 0, 0,
                               (SIZE_T)map->size_bytes);
    if (!map->bytes) status = petal_os_fail(error, "cannot map it");
    CloseHandle(mapping); /* the view keeps the mapping alive */
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

/* FlushViewOfFile() only starts writing the pages. FlushFileBuffers() waits until they are on
 * disk. */
petal_status petal_os_sync(const struct file *file, const struct mapping *map, uint64_t offset,
                           uint64_t size_bytes, petal_error *error)
{
    uint64_t from = offset - offset % page_bytes();
    if (FlushViewOfFile(map->bytes + from, (SIZE_T)(offset + size_bytes - from)) &&
        FlushFileBuffers(handle_of(file)))
        return PETAL_OK;
    return petal_os_fail(error, "cannot write it to disk");
}

void petal_os_will_read(const struct mapping *map)
{
    (void)map;
}

void petal_os_touch(const struct mapping *map, uint64_t offset, uint64_t size_bytes)
{
    uint64_t page = page_bytes();
    for (uint64_t at = offset; at < offset + size_bytes; at += page - at % page) {
        volatile uint8_t *byte = map->bytes + at;
        *byte = *byte;
    }
}

/* ---- replacing --------------------------------------------------------------------------------
 *
 * With POSIX semantics, NTFS can replace a file that other processes have open. If another process
 * has mapped the file, Windows refuses the replacement. In this case, the result is PETAL_ERR_BUSY,
 * and nothing is lost. NTFS journals the rename itself, so folders are not flushed. */

int petal_os_folder_length(const char *path)
{
    int length = 0;
    for (int i = 0; path[i]; i++)
        if (path[i] == '/' || path[i] == '\\' || path[i] == ':') length = i + 1;
    return length;
}

petal_status petal_os_look(const char *path, bool *exists, petal_error *error)
{
    wchar_t *wide = wide_of(path);
    DWORD kind = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    DWORD failure = kind == INVALID_FILE_ATTRIBUTES ? GetLastError() : 0;
    free(wide);
    *exists = !failure;
    if (failure && failure != ERROR_FILE_NOT_FOUND)
        return petal_fail_errno(error, errno_of(failure), "cannot write it");
    if (!failure && (kind & FILE_ATTRIBUTE_DIRECTORY))
        return petal_fail_errno(error, EISDIR, "cannot write it");
    return PETAL_OK;
}

char *petal_os_resolve(const char *path)
{
    wchar_t *wide = wide_of(path);
    HANDLE handle = wide ? open_handle(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, NULL) : NULL;
    char *resolved = handle ? resolve(handle, path) : NULL;
    if (handle) CloseHandle(handle);
    free(wide);
    return resolved;
}

char *petal_os_resolve_new(const char *path)
{
    wchar_t *wide = wide_of(path);
    DWORD room = wide ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
    wchar_t *whole = room ? malloc(room * sizeof *whole) : NULL;
    char *text = whole && GetFullPathNameW(wide, room, whole, NULL) ? utf8_of(whole) : NULL;
    free(whole);
    free(wide);
    return text;
}

#define MAX_ENTRIES 4096

void petal_os_visit_beside(const char *target, const char *prefix,
                           void (*visit)(const char *target, const char *name))
{
    int folder = petal_os_folder_length(target);
    size_t room = (size_t)folder + strlen(prefix) + 2;
    char *path = malloc(room);
    if (!path) return;
    snprintf(path, room, "%.*s%s*", folder, target, prefix);
    WIN32_FIND_DATAW entry;
    wchar_t *pattern = wide_of(path);
    HANDLE search = pattern ? FindFirstFileW(pattern, &entry) : INVALID_HANDLE_VALUE;
    bool more = search != INVALID_HANDLE_VALUE;
    for (int i = 0; more && i < MAX_ENTRIES; i++, more = FindNextFileW(search, &entry)) {
        char *name = utf8_of(entry.cFileName);
        if (name) visit(target, name);
        free(name);
    }
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
    free(pattern);
    free(path);
}

bool petal_os_random(void *bytes, size_t size_bytes)
{
    return RtlGenRandom(bytes, (ULONG)size_bytes);
}

/* Returns the target's permissions, for creating the new file, or NULL if the folder's default
 * permissions should be used. */
static void *permissions_of(const char *path)
{
    DWORD room = 0;
    wchar_t *wide = wide_of(path);
    if (wide) GetFileSecurityW(wide, DACL_SECURITY_INFORMATION, NULL, 0, &room);
    void *found = room ? malloc(room) : NULL;
    if (found && !GetFileSecurityW(wide, DACL_SECURITY_INFORMATION, found, room, &room)) {
        free(found);
        found = NULL;
    }
    free(wide);
    return found;
}

petal_status petal_os_create(struct file *file, const char *like, unsigned flags,
                             petal_error *error)
{
    (void)flags;
    SECURITY_ATTRIBUTES security = {sizeof security, like ? permissions_of(like) : NULL, FALSE};
    wchar_t *wide = wide_of(file->path);
    DWORD access = GENERIC_READ | GENERIC_WRITE | DELETE; /* DELETE access allows renaming the
                                                           * file */
    HANDLE handle = wide ? open_handle(wide, access, CREATE_NEW, &security) : NULL;
    DWORD failure = handle && keep(handle, file) ? 0 : GetLastError();
    free(wide);
    free(security.lpSecurityDescriptor);
    if (!failure) return PETAL_OK;
    if (failure == ERROR_FILE_EXISTS) return PETAL_ERR_EXISTS;
    return petal_fail_errno(error, errno_of(failure), "cannot write a file in its folder");
}

bool petal_os_create_nameless(const char *folder, struct file *file)
{
    (void)folder, (void)file;
    return false;
}

petal_status petal_os_complete(const struct file *file, uint64_t size_bytes, petal_error *error)
{
    HANDLE handle = handle_of(file);
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)size_bytes};
    if (!SetFilePointerEx(handle, end, NULL, FILE_BEGIN) || !SetEndOfFile(handle))
        return petal_os_fail(error, "cannot write");
    if (!FlushFileBuffers(handle)) return petal_os_fail(error, "cannot write it to disk");
    return PETAL_OK;
}

/* Replaces a file that this process and others may have open. If the result is false,
 * GetLastError() returns the reason. */
static bool rename_over(const struct file *from, const wchar_t *to)
{
    size_t name_bytes = wcslen(to) * sizeof *to, room = sizeof(FILE_RENAME_INFO) + name_bytes;
    FILE_RENAME_INFO *wanted = calloc(1, room);
    if (!wanted) return false;
    wanted->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
    wanted->FileNameLength = (DWORD)name_bytes;
    memcpy(wanted->FileName, to, name_bytes);
    bool done = SetFileInformationByHandle(handle_of(from), FileRenameInfoEx, wanted, (DWORD)room);
    free(wanted);
    return done;
}

static bool is_unknown(DWORD failure)
{
    return failure == ERROR_INVALID_PARAMETER || failure == ERROR_NOT_SUPPORTED ||
           failure == ERROR_INVALID_FUNCTION || failure == ERROR_CALL_NOT_IMPLEMENTED;
}

/* Before the 2017 version of Windows 10, on FAT, and in Wine, a file can't be replaced while any
 * process has it open, including this one. So the file must be unlocked and closed first. If a
 * writer opens the file at that moment, replacing fails, but nothing is lost. */
static bool move_over(struct replacement *made, const wchar_t *from, const wchar_t *to)
{
    struct file *open = made->held ? made->held : &made->old, again = PETAL_NO_FILE;
    if (open->descriptor >= 0) _close(open->descriptor);
    open->descriptor = -1;
    if (MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
    DWORD failure = GetLastError();
    if (made->held && petal_os_open(made->held->given, ACCESS_WRITE, &again, NULL) == PETAL_OK) {
        petal_os_close(made->held);
        *made->held = again;
    } else if (made->held) {
        petal_os_close(made->held); /* another process has locked the file, so this process has lost
                                     * its lock */
    }
    SetLastError(failure);
    return false;
}

petal_status petal_os_rename(struct replacement *made, petal_error *error)
{
    wchar_t *from = wide_of(made->temporary.path);
    wchar_t *to = wide_of(made->old.path);
    bool done = from && to;
    if (done && made->exists) {
        done = rename_over(&made->temporary, to);
        if (!done && is_unknown(GetLastError())) done = move_over(made, from, to);
    } else if (done) {
        done = MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH);
    }
    DWORD failure = done ? 0 : GetLastError();
    free(from);
    free(to);
    if (done) return PETAL_OK;
    if (!made->exists && (failure == ERROR_ALREADY_EXISTS || failure == ERROR_FILE_EXISTS))
        return PETAL_ERR_EXISTS;
    if (made->exists && (failure == ERROR_ACCESS_DENIED || failure == ERROR_SHARING_VIOLATION ||
                         failure == ERROR_USER_MAPPED_FILE))
        return petal_fail(error, PETAL_ERR_BUSY,
                          "another program has it open, and Windows does not replace such a file; "
                          "close it there and try again");
    return petal_fail_errno(error, errno_of(failure), "cannot rename the new file");
}

petal_status petal_os_flush_folder(const char *path, petal_error *error)
{
    (void)path, (void)error;
    return PETAL_OK;
}

void petal_os_remove(const char *path)
{
    wchar_t *wide = wide_of(path);
    if (wide) DeleteFileW(wide);
    free(wide);
}

#endif
