/* kernel.c - see kernel.h. */
#include "output/kernel.h"

#include <petal/petal.h>

/* The kernel of the smallest possible filter. */
const char *kernel_name(void)
{
    petal_info plan = PETAL_INFO_INIT;
    petal_options options = PETAL_OPTIONS_INIT;
    options.bits = 512;
    options.hashes = 1;
    petal_plan(&options, &plan, NULL, NULL);
    return plan.kernel_name ? plan.kernel_name : "generic";
}
