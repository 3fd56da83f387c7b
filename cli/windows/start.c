/* start.c - the tool's entry point on Windows: converts its arguments to UTF-8, makes its streams
 * binary, and sets up its terminal for UTF-8 and colours. Also turns Ctrl-C, Ctrl-Break and closing
 * the window into signals. */
#include "output/signals.h"

#ifdef _WIN32

#include "posix.h"
#undef main

#include <stdatomic.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* After windows.h. */
#include <shellapi.h>

/* ---- signals --------------------------------------------------------------------------------- */

static _Atomic int caught;

/* Runs on a separate thread. The second event ends the process, as Windows does by default. */
static BOOL WINAPI on_event(DWORD event)
{
    int number = event == CTRL_C_EVENT ? SIGINT : event == CTRL_CLOSE_EVENT ? SIGHUP : SIGTERM;
    return atomic_exchange(&caught, number) == 0;
}

void catch_stop_signals(void)
{
    SetConsoleCtrlHandler(on_event, TRUE);
}

int stop_signal(void)
{
    return atomic_load(&caught);
}

int stop_descriptor(void)
{
    return -1;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static UINT former_code_page;

static void restore_console(void)
{
    SetConsoleOutputCP(former_code_page);
}

static void prepare_console(DWORD which)
{
    DWORD mode;
    HANDLE handle = GetStdHandle(which);
    if (GetConsoleMode(handle, &mode))
        SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

static char *utf8_of(const wchar_t *wide)
{
    int room = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = malloc((size_t)room + 1);
    if (!text) abort();
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL);
    return text;
}

int main(void)
{
    int argc = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &argc);
    char **argv = wide ? calloc((size_t)argc + 1, sizeof *argv) : NULL;
    if (!argv) abort();
    for (int i = 0; i < argc; i++) argv[i] = utf8_of(wide[i]);
    for (int i = 0; i <= 2; i++) _setmode(i, _O_BINARY);
    former_code_page = GetConsoleOutputCP();
    if (former_code_page) {
        SetConsoleOutputCP(CP_UTF8);
        atexit(restore_console);
        prepare_console(STD_OUTPUT_HANDLE);
        prepare_console(STD_ERROR_HANDLE);
    }
    return petal_tool(argc, argv);
}

#endif
