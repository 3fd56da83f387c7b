/* heap.c - malloc() for a WebAssembly module. The code is small, large blocks waste no memory, and
 * all freed memory is reused. Free blocks form a list in address order, and adjacent free blocks
 * are joined (Kernighan and Ritchie). malloc() uses the first block that fits. If no block fits,
 * memory grows by the missing pages.
 *
 *      block | size | next | unused | memory, aligned to 16 ...       next: of a free block
 *            0      4      8        16
 *
 * A filter consists of only a few blocks, so the list is short. Fresh pages are zero. calloc() does
 * not write to them, so creating a large filter is fast. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 16u
#define PAGE 65536u

struct block {
    size_t size; /* including this header */
    struct block *next;
    size_t unused[2];
};

extern unsigned char __heap_base;

static struct block *first_free;
static uintptr_t heap_end, fresh_from; /* memory at and above fresh_from was never allocated */

static uintptr_t end_of(const struct block *block)
{
    return (uintptr_t)block + block->size;
}

static void give_back(struct block *block)
{
    struct block **at = &first_free, *before = NULL;
    while (*at && *at < block) before = *at, at = &before->next;
    block->next = *at;
    *at = block;
    if (block->next && end_of(block) == (uintptr_t)block->next) {
        block->size += block->next->size;
        block->next = block->next->next;
    }
    if (before && end_of(before) == (uintptr_t)block) {
        before->size += block->size;
        before->next = block->next;
    }
}

/* Grows the memory, and joins the new pages with a free block at the old end. Returns false if the
 * memory can't grow. */
static int grow(size_t size)
{
    if (heap_end == 0) {
        uintptr_t begin = ((uintptr_t)&__heap_base + UNIT - 1) / UNIT * UNIT;
        heap_end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
        fresh_from = begin;
        if (heap_end >= begin + 2 * UNIT) {
            *(struct block *)begin = (struct block){heap_end - begin, NULL, {0, 0}};
            give_back((struct block *)begin);
        }
    }
    struct block *last = first_free;
    while (last && last->next) last = last->next;
    if (last && end_of(last) != heap_end) last = NULL;
    size_t have = last ? last->size : 0;
    if (have >= size) return 1;
    size_t pages = (size - have + PAGE - 1) / PAGE;
    if (pages >= PAGE || pages * PAGE > UINTPTR_MAX - heap_end ||
        __builtin_wasm_memory_grow(0, pages) == (size_t)-1)
        return 0;
    uintptr_t begin = heap_end;
    heap_end += pages * PAGE;
    if (last) {
        last->size += pages * PAGE;
    } else {
        *(struct block *)begin = (struct block){pages * PAGE, NULL, {0, 0}};
        give_back((struct block *)begin);
    }
    return 1;
}

void *malloc(size_t size_bytes)
{
    if (size_bytes > PTRDIFF_MAX) return NULL;
    size_t size = (size_bytes + UNIT - 1) / UNIT * UNIT + UNIT;
    for (int tries = 0; tries < 2; tries++) {
        for (struct block **at = &first_free; *at; at = &(*at)->next) {
            struct block *block = *at;
            if (block->size < size) continue;
            if (block->size - size >= 2 * UNIT) {
                struct block *rest = (struct block *)((uintptr_t)block + size);
                *rest = (struct block){block->size - size, block->next, {0, 0}};
                block->size = size;
                *at = rest;
            } else {
                *at = block->next;
            }
            if (fresh_from < end_of(block)) fresh_from = end_of(block);
            return block + 1;
        }
        if (!grow(size)) return NULL;
    }
    return NULL;
}

void free(void *memory)
{
    if (memory) give_back((struct block *)memory - 1);
}

void *calloc(size_t count, size_t size_bytes)
{
    if (size_bytes && count > PTRDIFF_MAX / size_bytes) return NULL;
    uintptr_t fresh = fresh_from;
    unsigned char *memory = malloc(count * size_bytes);
    if (!memory) return NULL;
    /* Fresh memory is zero, except for its first UNIT, which was the header of a free block. */
    uintptr_t used = fresh ? fresh + UNIT : UINTPTR_MAX, begin = (uintptr_t)memory;
    size_t dirty = used <= begin ? 0 : used - begin;
    memset(memory, 0, dirty < count * size_bytes ? dirty : count * size_bytes);
    return memory;
}

void *realloc(void *memory, size_t size_bytes)
{
    void *moved = malloc(size_bytes);
    if (!moved || !memory) return moved;
    size_t had = ((struct block *)memory - 1)->size - UNIT;
    memcpy(moved, memory, had < size_bytes ? had : size_bytes);
    free(memory);
    return moved;
}
