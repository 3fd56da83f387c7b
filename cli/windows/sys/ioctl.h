/* ioctl.h - for Windows: the width of the terminal; see windows/posix.c. */
#ifndef PETAL_CLI_WINDOWS_IOCTL_H
#define PETAL_CLI_WINDOWS_IOCTL_H

struct winsize {
    unsigned short ws_row, ws_col;
};

#define TIOCGWINSZ 1
int ioctl(int descriptor, int request, struct winsize *size);

#endif
