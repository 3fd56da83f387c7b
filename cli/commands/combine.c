/* combine.c - see combine.h. Loads the first file into memory, and maps the others one after the
 * other. */
#include "commands/combine.h"

#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "options/decode.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

/* A running command, with the filter combined so far. */
struct combining {
    const struct args *args;
    const char *verb;
    operation *operate;
    bool folds, is_locked; /* the result replaces the first file */
    petal_filter *filter;
};

/* Folds *filter to `bits`. */
static bool fold_to(petal_filter **filter, uint64_t bits, const char *path)
{
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    petal_filter *folded;
    petal_error error;
    options.bits = bits;
    progress_begin("folding", path);
    petal_status status = petal_fold(*filter, &options, &folded, &error);
    progress_end();
    if (status != PETAL_OK) return complain(path, "%s", error.message);
    petal_free(*filter);
    *filter = folded;
    return true;
}

/* If one filter is larger than the other by an integer factor, folds it to the smaller size. If the
 * sizes differ in any other way, the operation itself fails. */
static bool match_sizes(struct combining *with, petal_filter **other, const char *path)
{
    petal_info a = info_of(with->filter), b = info_of(*other);
    bool can_fold = a.abilities & b.abilities & PETAL_CAN_FOLD && !a.policy && !b.policy;
    if (!with->folds || !can_fold || a.bits == b.bits) return true;
    if (b.bits > a.bits && b.bits % a.bits == 0) return fold_to(other, a.bits, path);
    if (a.bits < b.bits || a.bits % b.bits != 0) return true;
    if (with->is_locked)
        return complain(path, "is smaller than %s; write to another file, or fold that one first",
                        with->args->operands[0]);
    return fold_to(&with->filter, b.bits, with->args->operands[0]);
}

static bool operate_on(struct combining *with, petal_filter *other, const char *path)
{
    petal_error error;
    const char *first = with->args->operands[0], *verb = with->verb;
    uint32_t type = info_of(with->filter).key_type, other_type = info_of(other).key_type;
    if (!key_types_agree(type, other_type))
        return complain(path, "cannot %s with %s: its keys are of type %s, the others of type %s",
                        verb, first, key_type_name(other_type), key_type_name(type));
    progress_begin("taking in", path);
    petal_status status = with->operate(with->filter, other, &error);
    progress_end();
    if (status == PETAL_OK) return true;
    if (status == PETAL_ERR_UNSUPPORTED)
        return complain(path, "cannot %s with %s: %s", verb, first, error.message);
    return complain(path,
                    "cannot %s with %s (%s); make both with the same options, or this one with "
                    "--template %s",
                    verb, first, error.message, first);
}

static bool take_in(struct combining *with, const char *path)
{
    petal_filter *other = open_filter(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, with->args);
    bool good = other && match_sizes(with, &other, path) && operate_on(with, other, path);
    petal_free(other);
    return good;
}

/* Combines all filters and saves the result in the format named by --to, or else in the first
 * file's format. */
static bool take_in_all(struct combining *with)
{
    const struct args *args = with->args;
    const char *to = args->to ? args->to : file_format_of(with->filter);
    for (size_t i = 1; i < args->operand_count; i++)
        if (stop_signal() || !take_in(with, args->operands[i])) return false;
    return stop_signal() == 0 && save_filter(with->filter, args->output, to, args);
}

int combine(const struct args *args, const char *verb, operation *operate, bool folds)
{
    if (!args->output) return misused(verb, "needs -o OUT");
    if (args->operand_count == 0) return misused(verb, "needs filters to %s", verb);
    if (!check_format(args->to) || !may_save(args->output, args)) return STATUS_ERROR;
    bool onto_first = is_same_file(args->output, args->operands[0]);
    if (!onto_first && !differs_from_inputs(args->output, args->operands, args->operand_count))
        return STATUS_ERROR;
    catch_stop_signals(); /* so that a signal leaves no temporary file behind */
    /* If the result replaces the first file, no other process may change that file until then. */
    unsigned locked = onto_first ? PETAL_OPEN_LOCKED : 0;
    struct combining with = {args, verb, operate, folds, onto_first, NULL};
    with.filter = open_filter(args->operands[0], PETAL_OPEN_LOAD | locked, args);
    bool good = with.filter && take_in_all(&with);
    if (good) {
        warn_if_overfilled(args->output, with.filter);
        print_summary(args->output, with.filter, args);
    }
    petal_free(with.filter);
    if (!good && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return good ? STATUS_OK : STATUS_ERROR;
}
