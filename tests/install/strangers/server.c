/* server.c - proves that petal_get_info() doesn't read the bits, since a server may call it very
 * often. The test uses a 1 GB filter, whose pages are allocated only when they are touched. After
 * the calls, no page may have been allocated. */
#define _DEFAULT_SOURCE

#include "expect.h"

#include <petal/petal.h>
#include <sys/mman.h>
#include <time.h>

static void *first_block;
static size_t first_size;

static void *allocate(void *context, size_t size_bytes)
{
    (void)context;
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (size_bytes > first_size) { /* the largest block contains the bits */
        first_block = memory;
        first_size = size_bytes;
    }
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    munmap(memory, size_bytes);
}

static size_t pages_in_memory(void)
{
    static unsigned char in_memory[(1u << 30) / 4096 + 16];
    size_t pages = (first_size + 4095) / 4096, count = 0;
    expect(pages <= sizeof in_memory);
    expect(mincore(first_block, first_size, in_memory) == 0);
    for (size_t i = 0; i < pages; i++) count += in_memory[i] & 1;
    return count;
}

int main(void)
{
    enum { ASKED = 1000000 };
    const petal_allocator allocator = {allocate, release, NULL};
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    petal_info info = PETAL_INFO_INIT;
    struct timespec start, end;
    uint64_t sum = 0;
    options.bits = (uint64_t)8 << 30;
    options.hashes = 8;
    options.capacity = 500000000;
    options.allocator = &allocator;
    expect(petal_create(&options, &filter, NULL) == PETAL_OK);
    petal_add_i64(filter, 1);
    size_t before = pages_in_memory();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < ASKED; i++) {
        expect(petal_get_info(filter, PETAL_ALL_LAYERS, &info, NULL) == PETAL_OK);
        sum += info.items;
        (void)petal_is_overfull(filter);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    expect(sum == ASKED && info.bytes == (uint64_t)1 << 30 && info.predicted_rate > 0);
    expect(pages_in_memory() == before && before < 1000);
    printf("%.0f ns per petal_get_info() and petal_is_overfull()\n",
           ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
               ASKED);
    petal_free(filter);
    return 0;
}
