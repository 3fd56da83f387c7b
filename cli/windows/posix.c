/* posix.c - see posix.h. */
#include <stdarg.h>

#ifdef _WIN32

#include "posix.h"

#include "poll.h"
#include "sys/ioctl.h"
#include "sys/mman.h"
#include "sys/random.h"

#undef open
#undef fopen
#undef tmpfile
#undef stat
#undef lstat
#undef fstat
#undef access
#undef unlink
#undef rename
#undef isatty

#include <stdbool.h>
#include <wchar.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* After windows.h. */
#include <ntsecapi.h>

/* ---- paths ----------------------------------------------------------------------------------- */

enum { PATH_ROOM = 4096 };

static bool to_wide(const char *path, wchar_t wide[PATH_ROOM])
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, PATH_ROOM)) return true;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
    return false;
}

static int fail_with(DWORD failure)
{
    errno = failure == ERROR_FILE_NOT_FOUND || failure == ERROR_PATH_NOT_FOUND     ? ENOENT
            : failure == ERROR_ALREADY_EXISTS                                      ? EEXIST
            : failure == ERROR_DISK_FULL                                           ? ENOSPC
            : failure == ERROR_ACCESS_DENIED || failure == ERROR_SHARING_VIOLATION ? EACCES
                                                                                   : EIO;
    return -1;
}

/* As in the library: others may read, change, rename and remove the file while it is open. */
static HANDLE open_handle(const char *path, DWORD access, DWORD how)
{
    wchar_t wide[PATH_ROOM];
    DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    if (!to_wide(path, wide)) return INVALID_HANDLE_VALUE;
    HANDLE handle = CreateFileW(wide, access, sharing, NULL, how, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) fail_with(GetLastError());
    return handle;
}

int windows_open(const char *path, int flags, ...)
{
    bool writes = flags & (O_WRONLY | O_RDWR);
    DWORD how = flags & O_EXCL ? CREATE_NEW : flags & O_CREAT ? OPEN_ALWAYS : OPEN_EXISTING;
    HANDLE handle = open_handle(path, writes ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ, how);
    if (handle == INVALID_HANDLE_VALUE) return -1;
    int descriptor = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (descriptor < 0) CloseHandle(handle);
    return descriptor;
}

FILE *windows_fopen(const char *path, const char *mode)
{
    int descriptor = windows_open(path, *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT);
    return descriptor < 0 ? NULL : _fdopen(descriptor, mode);
}

/* The file is deleted when it is closed. */
FILE *windows_tmpfile(void)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"ptl", 0, path)) {
        fail_with(GetLastError());
        return NULL;
    }
    int descriptor = _wopen(path, _O_RDWR | _O_BINARY | _O_TEMPORARY | _O_NOINHERIT);
    return descriptor < 0 ? NULL : _fdopen(descriptor, "w+b");
}

static int look(HANDLE handle, struct windows_stat *about)
{
    BY_HANDLE_FILE_INFORMATION found;
    *about = (struct windows_stat){0};
    switch (GetFileType(handle)) {
    case FILE_TYPE_CHAR: about->st_mode = S_IFCHR; return 0;
    case FILE_TYPE_PIPE: about->st_mode = S_IFIFO; return 0;
    case FILE_TYPE_DISK: break;
    default: return fail_with(ERROR_INVALID_HANDLE);
    }
    if (!GetFileInformationByHandle(handle, &found)) return fail_with(GetLastError());
    about->st_mode = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR : S_IFREG;
    about->st_dev = found.dwVolumeSerialNumber;
    about->st_ino = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    about->st_size = (int64_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    return 0;
}

int windows_stat(const char *path, struct windows_stat *about)
{
    HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING);
    if (handle == INVALID_HANDLE_VALUE) return -1;
    int failed = look(handle, about);
    CloseHandle(handle);
    return failed;
}

int windows_fstat(int descriptor, struct windows_stat *about)
{
    return look((HANDLE)_get_osfhandle(descriptor), about);
}

int windows_access(const char *path, int mode)
{
    wchar_t wide[PATH_ROOM];
    return to_wide(path, wide) ? _waccess(wide, mode) : -1;
}

int windows_unlink(const char *path)
{
    wchar_t wide[PATH_ROOM];
    return to_wide(path, wide) ? _wunlink(wide) : -1;
}

int windows_rename(const char *from, const char *to)
{
    wchar_t old[PATH_ROOM], new[PATH_ROOM];
    if (!to_wide(from, old) || !to_wide(to, new)) return -1;
    return MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)
               ? 0
               : fail_with(GetLastError());
}

char *realpath(const char *path, char *resolved)
{
    wchar_t wide[PATH_ROOM];
    HANDLE handle = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING);
    (void)resolved; /* NULL, for malloc() */
    if (handle == INVALID_HANDLE_VALUE) return NULL;
    DWORD length = GetFinalPathNameByHandleW(handle, wide, PATH_ROOM, FILE_NAME_NORMALIZED);
    CloseHandle(handle);
    char *text = malloc(4 * PATH_ROOM);
    if (text && length > 0 && length < PATH_ROOM &&
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, 4 * PATH_ROOM, NULL, NULL))
        return text;
    free(text);
    errno = EIO;
    return NULL;
}

ssize_t pread(int descriptor, void *bytes, size_t size_bytes, off_t offset)
{
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)((uint64_t)offset >> 32)};
    DWORD wanted = (DWORD)(size_bytes < INT32_MAX ? size_bytes : INT32_MAX), got = 0;
    if (ReadFile((HANDLE)_get_osfhandle(descriptor), bytes, wanted, &got, &at) ||
        GetLastError() == ERROR_HANDLE_EOF)
        return got;
    return fail_with(GetLastError());
}

void *mmap(void *at, size_t size_bytes, int protection, int flags, int descriptor, off_t offset)
{
    (void)at, (void)protection, (void)flags, (void)offset;
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    void *bytes = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size_bytes) : NULL;
    if (mapping) CloseHandle(mapping);
    return bytes ? bytes : MAP_FAILED;
}

int munmap(void *bytes, size_t size_bytes)
{
    (void)size_bytes;
    return UnmapViewOfFile(bytes) ? 0 : -1;
}

/* ---- the system ------------------------------------------------------------------------------ */

int getentropy(void *bytes, size_t size_bytes)
{
    if (RtlGenRandom(bytes, (ULONG)size_bytes)) return 0;
    errno = EIO;
    return -1;
}

long sysconf(int name)
{
    SYSTEM_INFO system;
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    GetSystemInfo(&system);
    if (name == _SC_NPROCESSORS_ONLN) return (long)system.dwNumberOfProcessors;
    if (name == _SC_PAGESIZE) return (long)system.dwPageSize;
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / system.dwPageSize) : -1;
}

/* ---- standard input and output --------------------------------------------------------------- */

int windows_isatty(int descriptor)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(descriptor), &mode);
}

int ioctl(int descriptor, int request, struct winsize *size)
{
    CONSOLE_SCREEN_BUFFER_INFO about;
    (void)request;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(descriptor), &about)) return -1;
    size->ws_col = (unsigned short)(about.srWindow.Right - about.srWindow.Left + 1);
    size->ws_row = (unsigned short)(about.srWindow.Bottom - about.srWindow.Top + 1);
    return 0;
}

/* True if input is available immediately. A console is read line by line, so it is checked last. */
static bool is_readable(int descriptor)
{
    HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
    DWORD bytes = 0;
    switch (GetFileType(handle)) {
    case FILE_TYPE_DISK: return true;
    case FILE_TYPE_PIPE: return !PeekNamedPipe(handle, NULL, 0, NULL, &bytes, NULL) || bytes > 0;
    default: return false;
    }
}

/* With a timeout of 0, reports whether reading would block. Otherwise it reports that input is
 * available, and the next read() waits, because Windows can't wait for several pipes at once.
 * Ctrl-C ends a read from the console, and ends all programs in a pipeline. */
int poll(struct pollfd *watched, unsigned count, int milliseconds)
{
    int ready = 0;
    if (milliseconds > 0) Sleep((DWORD)milliseconds);
    for (unsigned i = 0; i < count; i++) {
        bool waits =
            milliseconds == 0 && watched[i].events == POLLIN && !is_readable(watched[i].fd);
        watched[i].revents = watched[i].fd < 0 || waits ? 0 : watched[i].events;
        ready += watched[i].revents != 0;
    }
    return ready;
}

#endif
