/* marks.c - see marks.h. marks.inc finds the marks. */
#define MARKER marker_any_cpu
#include "keys/marks.inc"

#include "output/kernel.h"

const struct marker *marker_for_this_cpu(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    const char *kernel = kernel_name();
    if (strcmp(kernel, "avx2") == 0 || strcmp(kernel, "avx512") == 0) return &marker_avx2;
#endif
    return &marker_any_cpu;
}

void marks_clear(struct marks *marks)
{
    *marks = (struct marks){.by = marks->by, .at = marks->at, .room = marks->room};
}
