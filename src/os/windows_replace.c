/* windows_replace.c - replacing a file atomically, on Windows.
 *
 *     lock the target -> temporary file, locked -> write -> FlushFileBuffers -> rename -> unlock
 *
 * As posix_replace.c does it: NTFS renames with the semantics of POSIX, over a file that others
 * have open. A file that another process has mapped cannot be replaced on Windows: BUSY, and
 * nothing is lost. The rename itself is in NTFS's journal; folders are not flushed. */
#include "os/os.h"

#if !defined(PETAL_OS_NONE) && defined(_WIN32)

#include "base/error.h"
#include "os/windows.h"

#include <errno.h>
#include <io.h>
#include <ntsecapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static int folder_length(const char *path)
{
    int length = 0;
    for (int i = 0; path[i]; i++)
        if (path[i] == '/' || path[i] == '\\' || path[i] == ':') length = i + 1;
    return length;
}

/* Where a file that does not exist yet will be. NULL: GetLastError(). */
static char *path_of_new(const char *path)
{
    wchar_t *wide = petal_windows_wide(path);
    DWORD room = wide ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
    wchar_t *whole = room ? malloc(room * sizeof *whole) : NULL;
    char *text =
        whole && GetFullPathNameW(wide, room, whole, NULL) ? petal_windows_utf8(whole) : NULL;
    free(whole);
    free(wide);
    return text;
}

/* ---- temporary files: see common.h ----------------------------------------------------------- */

static void remove_path(const char *path)
{
    wchar_t *wide = petal_windows_wide(path);
    if (wide) DeleteFileW(wide);
    free(wide);
}

/* Removes a temporary file whose maker is dead. */
static void remove_stale(const char *path)
{
    struct file file = PETAL_NO_FILE;
    if (petal_os_open(path, ACCESS_WRITE, &file, NULL) == PETAL_OK) remove_path(path);
    petal_os_close(&file);
}

static void remove_stale_ones(const char *target)
{
    size_t room = strlen(target) + sizeof PETAL_OS_TEMPORARY + MAX_PATH * 4;
    char *path = malloc(room);
    int folder = folder_length(target);
    if (!path) return;
    snprintf(path, room, "%.*s" PETAL_OS_TEMPORARY "*", folder, target);
    WIN32_FIND_DATAW entry;
    wchar_t *pattern = petal_windows_wide(path);
    HANDLE search = pattern ? FindFirstFileW(pattern, &entry) : INVALID_HANDLE_VALUE;
    bool more = search != INVALID_HANDLE_VALUE;
    for (int i = 0; more && i < PETAL_OS_MAX_ENTRIES; i++, more = FindNextFileW(search, &entry)) {
        char *name = petal_windows_utf8(entry.cFileName);
        if (name && petal_os_is_temporary(name)) {
            snprintf(path, room, "%.*s%s", folder, target, name);
            remove_stale(path);
        }
        free(name);
    }
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
    free(pattern);
    free(path);
}

/* Who may do what with the target, which holds for the new file from its first moment. NULL: what
 * holds in its folder. */
static void *permissions_of(const char *path)
{
    DWORD room = 0;
    wchar_t *wide = petal_windows_wide(path);
    if (wide) GetFileSecurityW(wide, DACL_SECURITY_INFORMATION, NULL, 0, &room);
    void *found = room ? malloc(room) : NULL;
    if (found && !GetFileSecurityW(wide, DACL_SECURITY_INFORMATION, found, room, &room)) {
        free(found);
        found = NULL;
    }
    free(wide);
    return found;
}

/* Opens a new file. ERROR_FILE_EXISTS if there is one. */
static bool create(struct file *temporary, SECURITY_ATTRIBUTES *security)
{
    wchar_t *wide = petal_windows_wide(temporary->path);
    DWORD access = GENERIC_READ | GENERIC_WRITE | DELETE; /* the last: to rename it */
    HANDLE handle = wide ? petal_windows_open(wide, access, CREATE_NEW, security) : NULL;
    free(wide);
    return handle && petal_windows_keep(handle, temporary);
}

/* Opens a new file beside the target. A file system without locks gives none; then nobody mistakes
 * the file for a dead one's either. */
static petal_status make_temporary(struct replacement *made, petal_error *error)
{
    size_t room = strlen(made->old.path) + sizeof PETAL_OS_TEMPORARY + 32;
    struct file *temporary = &made->temporary;
    SECURITY_ATTRIBUTES security = {sizeof security, NULL, FALSE};
    temporary->path = malloc(room);
    if (!temporary->path) return petal_fail(error, PETAL_ERR_MEMORY, "out of memory");
    if (made->exists) security.lpSecurityDescriptor = permissions_of(made->old.path);
    petal_status status = PETAL_ERR_REPLACED;
    for (int i = 0; i < PETAL_OS_ATTEMPTS && status == PETAL_ERR_REPLACED; i++) {
        unsigned long long number;
        if (!RtlGenRandom(&number, sizeof number)) break;
        snprintf(temporary->path, room, "%.*s" PETAL_OS_TEMPORARY "%016llx",
                 folder_length(made->old.path), made->old.path, number);
        if (!create(temporary, &security)) {
            if (GetLastError() == ERROR_FILE_EXISTS) continue;
            status = petal_windows_fail(error, "cannot write a file in its folder");
            break;
        }
        /* Another process may take it for a dead one's before it is locked. */
        petal_status lock = petal_windows_lock(petal_windows_handle(temporary), NULL);
        temporary->is_locked = lock == PETAL_OK;
        status = lock == PETAL_ERR_BUSY ? PETAL_ERR_REPLACED
                                        : petal_os_is_at(temporary, temporary->path, error);
        if (status == PETAL_OK) break;
        _close(temporary->descriptor);
        temporary->descriptor = -1;
        remove_path(temporary->path); /* the name is random, so it is ours */
    }
    free(security.lpSecurityDescriptor);
    return status == PETAL_ERR_REPLACED
               ? petal_fail_errno(error, EEXIST, "cannot write a file in its folder")
               : status;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static char *resolve(const char *path)
{
    wchar_t *wide = petal_windows_wide(path);
    HANDLE handle =
        wide ? petal_windows_open(wide, FILE_READ_ATTRIBUTES, OPEN_EXISTING, NULL) : NULL;
    char *resolved = handle ? petal_windows_resolve(handle, path) : NULL;
    if (handle) CloseHandle(handle);
    free(wide);
    return resolved;
}

/* The file to replace, locked. */
static petal_status take_old(const char *path, unsigned flags, struct replacement *made,
                             petal_error *error)
{
    petal_status at = made->held ? petal_os_is_at(made->held, path, error) : PETAL_ERR_REPLACED;
    bool held = at == PETAL_OK;
    made->exists = true;
    if (made->no_replace) return petal_fail(error, PETAL_ERR_EXISTS, "exists");
    if (at == PETAL_ERR_IO) return at;
    if (held || (flags & PETAL_SAVE_NO_LOCK)) {
        made->old = (struct file){.path = resolve(path), .descriptor = -1};
        if (!held) made->held = NULL;
        return made->old.path ? PETAL_OK : petal_windows_fail(error, "cannot follow its path");
    }
    petal_status status = petal_os_open(path, ACCESS_WRITE, &made->old, error);
    if (status == PETAL_ERR_IO && error && error->system_errno == EACCES)
        return petal_fail_errno(error, EACCES,
                                "cannot lock it for writing; --no-lock goes without");
    if (status != PETAL_OK) return status;
    return petal_os_let_go(made, path,
                           "was replaced by another file since it was read; read it again", error);
}

static petal_status take_target(const char *path, unsigned flags, struct replacement *made,
                                petal_error *error)
{
    wchar_t *wide = petal_windows_wide(path);
    DWORD kind = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    DWORD failure = kind == INVALID_FILE_ATTRIBUTES ? GetLastError() : 0;
    free(wide);
    if (!failure && (kind & FILE_ATTRIBUTE_DIRECTORY))
        return petal_fail_errno(error, EISDIR, "cannot write it");
    if (!failure) return take_old(path, flags, made, error);
    SetLastError(failure);
    if (failure != ERROR_FILE_NOT_FOUND) return petal_windows_fail(error, "cannot write it");
    made->old = (struct file){.path = path_of_new(path), .descriptor = -1};
    if (!made->old.path) return petal_windows_fail(error, "cannot write a file in its folder");
    return petal_os_let_go(made, path, "was removed since it was read; save under another name",
                           error);
}

petal_status petal_os_begin(const char *path, unsigned flags, struct file *held,
                            struct replacement *made, petal_error *error)
{
    petal_error own;
    if (!error) error = &own;
    *made = (struct replacement){.old = PETAL_NO_FILE,
                                 .temporary = PETAL_NO_FILE,
                                 .held = held,
                                 .no_replace = flags & PETAL_SAVE_NO_REPLACE};
    petal_status status = take_target(path, flags, made, error);
    if (status == PETAL_OK) {
        remove_stale_ones(made->old.path);
        status = make_temporary(made, error);
    }
    return status == PETAL_OK ? status : petal_os_drop(made, false, status);
}

/* ---- finish ---------------------------------------------------------------------------------- */

static petal_status make_durable(const struct replacement *made, petal_error *error)
{
    HANDLE handle = petal_windows_handle(&made->temporary);
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)made->size_bytes};
    if (!SetFilePointerEx(handle, end, NULL, FILE_BEGIN) || !SetEndOfFile(handle))
        return petal_windows_fail(error, "cannot write");
    if (!FlushFileBuffers(handle)) return petal_windows_fail(error, "cannot write it to disk");
    return PETAL_OK;
}

/* Over a file that others, and we, have open. False: GetLastError(). */
static bool rename_over(const struct file *from, const wchar_t *to)
{
    size_t name_bytes = wcslen(to) * sizeof *to, room = sizeof(FILE_RENAME_INFO) + name_bytes;
    FILE_RENAME_INFO *wanted = calloc(1, room);
    if (!wanted) return false;
    wanted->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
    wanted->FileNameLength = (DWORD)name_bytes;
    memcpy(wanted->FileName, to, name_bytes);
    bool done = SetFileInformationByHandle(petal_windows_handle(from), FileRenameInfoEx, wanted,
                                           (DWORD)room);
    free(wanted);
    return done;
}

static bool is_unknown(DWORD failure)
{
    return failure == ERROR_INVALID_PARAMETER || failure == ERROR_NOT_SUPPORTED ||
           failure == ERROR_INVALID_FUNCTION || failure == ERROR_CALL_NOT_IMPLEMENTED;
}

/* Before Windows 10 of 2017, on FAT, and in Wine no file is replaced that anybody has open, we
 * included. So a writer who opens it once it is unlocked makes this fail, and loses nothing. */
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
        petal_os_close(made->held); /* then it is another's: nothing is held any more */
    }
    SetLastError(failure);
    return false;
}

static petal_status publish(struct replacement *made, petal_error *error)
{
    wchar_t *from = petal_windows_wide(made->temporary.path);
    wchar_t *to = petal_windows_wide(made->old.path);
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
        return made->no_replace ? petal_fail(error, PETAL_ERR_EXISTS, "exists")
                                : petal_fail(error, PETAL_ERR_BUSY,
                                             "another process has just made it; try again");
    if (made->exists && (failure == ERROR_ACCESS_DENIED || failure == ERROR_SHARING_VIOLATION ||
                         failure == ERROR_USER_MAPPED_FILE))
        return petal_fail(error, PETAL_ERR_BUSY,
                          "another program has it open, and Windows does not replace such a file; "
                          "close it there and try again");
    SetLastError(failure);
    return petal_windows_fail(error, "cannot rename the new file");
}

petal_status petal_os_finish(struct replacement *made, bool keep, petal_error *error)
{
    petal_status status = keep ? make_durable(made, error) : PETAL_OK;
    if (keep && status == PETAL_OK) status = publish(made, error);
    bool done = keep && status == PETAL_OK;
    if (!done) remove_path(made->temporary.path);
    return petal_os_drop(made, done, status);
}

#endif
