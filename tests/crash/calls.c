/* calls.c - proves that if a system call or an allocation fails inside a library call, the call
 * reports the failure and loses nothing.
 *
 * The program preloads the shim into itself. During one library call at a time, the shim makes the
 * nth system call of a given kind fail: either only this system call, or this one and all later
 * ones. If the library call fails, it must return the right status, errno and message, and no
 * filter. All keys added earlier must still be present, in memory and in the file. Descriptors and
 * memory must be released. If a write failed, the filter must never report later that the changes
 * were written. The amount is the number of faults tried per library call, chosen at random; `full`
 * tries all of them. */
#define _GNU_SOURCE
#include "lib/filter_calls.h"
#include "lib/index_calls.h"
#include <dlfcn.h>

static const struct scenario {
    const char *name;
    void (*run)(enum kind);
    enum kind kinds[KINDS + 1]; /* ends with KINDS */
} scenarios[] = {
    {"petal_plan", plan_one, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_create", create_one, {BLOCKED, CLASSIC, COUNTS, GROWS, ROTATES, FOREIGN}},
    {"petal_create_like", create_like_one, {BLOCKED, COUNTS, KINDS}},
    {"petal_clone", clone_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_clone of a map", clone_map, {BLOCKED, GROWS, KINDS}},
    {"petal_load_from_memory", load_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_view", view_one, {BLOCKED, GROWS, FOREIGN, KINDS}},
    {"petal_drop_counts", convert_one, {COUNTS, KINDS}},
    {"petal_fold of a map", fold_map, {BLOCKED, CLASSIC, KINDS}},
    {"petal_open, MAP", open_map, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_open, VERIFY", open_verify, {BLOCKED, GROWS, KINDS}},
    {"petal_open, LIVE", open_live, {BLOCKED, KINDS}},
    {"petal_open, LOAD", open_load, {BLOCKED, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_open, LOCKED", open_locked, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_open, WRITABLE", open_writable, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_open, RECOVER", open_recover, {BLOCKED, KINDS}},
    {"petal_save of a new file", save_new, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_save over a file", save_over, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_save with the lock", save_locked, {BLOCKED, GROWS, KINDS}},
    {"petal_save_as", save_foreign, {FOREIGN, KINDS}},
    {"petal_serialize", serialize_one, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_sync", sync_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_sync of a shared map", sync_shared_map, {BLOCKED, CLASSIC, KINDS}},
    {"petal_free of a changed map", free_changed_map, {BLOCKED, KINDS}},
    {"petal_clear of a map", clear_map, {BLOCKED, COUNTS, KINDS}},
    {"petal_merge into a map", merge_into_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_intersect in a map", intersect_in_map, {BLOCKED, COUNTS, KINDS}},
    {"petal_remove in a map", remove_in_map, {COUNTS, KINDS}},
    {"petal_save onto its own map", save_onto_itself, {BLOCKED, COUNTS, KINDS}},
    {"petal_verify", verify_one, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_set_clock", advance_one, {ROTATES, KINDS}},
    {"petal_add", add_in_memory, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"a builder", build_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_merge", merge_one, {BLOCKED, COUNTS, KINDS}},
    {"petal_compare", compare_one, {BLOCKED, KINDS}},
    {"petal_get_info", describe_one, {BLOCKED, GROWS, ROTATES, KINDS}},
    {"petal_set_metadata", set_metadata_of, {BLOCKED, KINDS}},
    {"petal_allow_threads", share_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_open, auto", open_auto_one, {BLOCKED, KINDS}},
    {"petal_add_batch", add_batch_in_memory, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_add_batch into a map", add_batch_in_map, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_remove_batch in a map", remove_batch_in_map, {COUNTS, KINDS}},
    {"petal_diff", diff_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"petal_apply_patch", apply_one, {BLOCKED, COUNTS, GROWS, ROTATES, FOREIGN, KINDS}},
    {"a reader", read_one, {BLOCKED, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_write_bits", write_bits_of, {BLOCKED, COUNTS, GROWS, KINDS}},
    {"petal_adopt_bits", adopt_one, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_relocate", relocate_one, {BLOCKED, CLASSIC, COUNTS, GROWS, ROTATES, KINDS}},
    {"petal_lend", lend_one, {BLOCKED, CLASSIC, COUNTS, KINDS}},
    {"petal_index_create with a lock", index_create_one, {BLOCKED, KINDS}},
    {"petal_index_add", index_add_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_add_keys", index_add_keys_one, {BLOCKED, KINDS}},
    {"petal_index_open", index_open_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_add_index", index_add_index_one, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_save of a new file", index_save_new, {BLOCKED, KINDS}},
    {"petal_index_save over a file", index_save_over, {BLOCKED, CLASSIC, KINDS}},
    {"petal_index_save with the lock", index_save_locked, {BLOCKED, KINDS}},
};

/* ---- all faults ------------------------------------------------------------------------------ */

static int open_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static void run_once(const struct scenario *scenario, enum kind kind)
{
    static const char *const actions[] = {"counted", "fails", "fails from there on", "is short",
                                          "waits"};
    int descriptors = open_descriptors();
    uint64_t broken = campaign.broken;
    int64_t live = atomic_load(&control->live), more;
    name = scenario->name;
    was_hit = false;
    memset(calls, 0, sizeof calls);
    snprintf(fault_text, sizeof fault_text, "kind %d, %s %u %s (%s)", (int)kind,
             shim_names[plan.call], plan.nth, actions[plan.action],
             plan.action == SHIM_FAIL || plan.action == SHIM_FAIL_ON ? strerror(plan.error) : "-");
    empty_folder(open(in_folder("w"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    scenario->run(kind);
    runs++;
    hits += was_hit;
    if (campaign.broken != broken) return; /* printing a report may have allocated memory */
    more = atomic_load(&control->live) - live;
    expect(more == 0, "%s: %s: %" PRId64 " blocks of memory are not given back", fault_text, name,
           more);
    expect(open_descriptors() == descriptors, "%s: %s: %d descriptors are not closed", fault_text,
           name, open_descriptors() - descriptors);
}

struct fault {
    enum shim_call call;
    int errors[5];
};

static const struct fault faults[] = {
    {SHIM_OPEN, {EMFILE, EIO}},
    {SHIM_READ, {EIO, EINTR}},
    {SHIM_WRITE, {EIO, ENOSPC, EDQUOT, EINTR}},
    {SHIM_FSYNC, {EIO, ENOSPC, EDQUOT}},
    {SHIM_MSYNC, {EIO, ENOMEM}},
    {SHIM_MMAP, {ENOMEM}},
    {SHIM_TRUNCATE, {EIO, EFBIG}},
    {SHIM_ALLOCATE, {ENOSPC, EIO, EINTR, EOPNOTSUPP}},
    {SHIM_CLOSE, {EIO, EINTR}},
    {SHIM_RENAME, {EIO, ENOSPC, EACCES}},
    {SHIM_LINK, {EIO, EPERM}},
    {SHIM_UNLINK, {EIO}},
    {SHIM_LOCK, {EIO, ENOLCK, EINTR}},
    {SHIM_MODE, {EPERM, EIO}},
    {SHIM_STAT, {EIO, EACCES}},
    {SHIM_RANDOM, {EIO, EINTR}},
    {SHIM_MALLOC, {ENOMEM}},
};

static uint64_t for_all_faults(const struct scenario *scenario, enum kind kind,
                               const uint32_t there[SHIM_CALLS], double probability)
{
    uint64_t number = 0;
    for (size_t i = 0; i < COUNT(faults); i++)
        for (size_t j = 0; j < COUNT(faults[i].errors) && faults[i].errors[j]; j++)
            for (uint32_t nth = 1; nth <= there[faults[i].call]; nth++)
                for (int lasts = 0; lasts < (faults[i].errors[j] == EINTR ? 1 : 2);
                     lasts++, number++) {
                    plan = (struct plan){faults[i].call, lasts ? SHIM_FAIL_ON : SHIM_FAIL, nth,
                                         faults[i].errors[j]};
                    if (probability > 0 &&
                        (double)random_below(1u << 30) < probability * (1u << 30))
                        run_once(scenario, kind);
                }
    for (uint32_t nth = 1; nth <= there[SHIM_WRITE]; nth++, number++) {
        plan = (struct plan){SHIM_WRITE, SHIM_SHORT, nth, 0};
        if (probability > 0 && (double)random_below(1u << 30) < probability * (1u << 30))
            run_once(scenario, kind);
    }
    return number;
}

static void make_images(void)
{
    petal_error error;
    for (enum kind kind = 0; kind < KINDS; kind++) {
        petal_filter *filter = with_old_keys(kind);
        save_or_give_up(filter, path);
        images[kind] = read_file(path);
        petal_free(filter);
    }
    make_index_images();
    put_file(images[BLOCKED]);
    pid_t pid = fork();
    if (pid == 0) {
        petal_filter *filter;
        bool good = open_flags(path, PETAL_OPEN_WRITABLE, &filter, &error) == PETAL_OK &&
                    add_key(filter, 0) >= 0;
        _exit(good ? 0 : 1);
    }
    waitpid(pid, NULL, 0);
    dirty = read_file(path);
}

/* The shim must be loaded at program start, so the program sets LD_PRELOAD and executes itself
 * again. */
static void start_with_shim(char **argv)
{
    struct shim_control *(*find)(void) = NULL;
    void *function = dlsym(RTLD_DEFAULT, "petal_shim_control");
    memcpy(&find, &function, sizeof find);
    if (find && find()) {
        control = find();
        return;
    }
    if (find) give_up("the shim has no page");
    char file[] = "/tmp/petal-shim-XXXXXX", preload[PATH_MAX + 16], page[64];
    int descriptor = mkstemp(file);
    struct shim_control none = {.call = SHIM_NONE};
    if (descriptor < 0 || write(descriptor, &none, sizeof none) != sizeof none)
        give_up("cannot write %s", file);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", part_path("shim.so"));
    snprintf(page, sizeof page, "PETAL_SHIM=%s", file);
    putenv(preload);
    putenv(page);
    execv("/proc/self/exe", argv);
    give_up("cannot start again");
}

int main(int argc, char **argv)
{
    uint64_t amount = amount_of(argc, argv, 60, 1000000), all = 0;
    start_with_shim(argv);
    const char *page = getenv("PETAL_SHIM");
    if (page) unlink(page);
    unsetenv("LD_PRELOAD");
    setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
    make_folder();
    mkdir(in_folder("w"), 0755);
    path = strdup(in_folder("w/f.petal"));
    make_images();
    for (size_t i = 0; i < COUNT(scenarios); i++) {
        char promise[160];
        for (size_t j = 0; j < KINDS && scenarios[i].kinds[j] != KINDS; j++) {
            uint32_t there[SHIM_CALLS];
            enum kind kind = scenarios[i].kinds[j];
            plan = (struct plan){SHIM_NONE, SHIM_COUNT, 0, 0};
            run_once(&scenarios[i], kind); /* the C library allocates memory during the first run */
            run_once(&scenarios[i], kind);
            memcpy(there, calls, sizeof there);
            uint64_t number = for_all_faults(&scenarios[i], kind, there, 0);
            for_all_faults(&scenarios[i], kind, there,
                           number ? (double)amount / (double)number : 0);
            all += number;
        }
        snprintf(promise, sizeof promise, "%s: a fault is reported, and loses nothing",
                 scenarios[i].name);
        end_case(promise);
    }
    return end_campaign("%zu calls, %" PRIu64 " faults in all, %" PRIu64 " runs, %" PRIu64
                        " with a fault, %" PRIu64 " failures reported",
                        COUNT(scenarios), all, runs, hits, failures);
}
