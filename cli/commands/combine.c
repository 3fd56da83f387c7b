/* combine.c - see combine.h. The first file is loaded into memory, the others are mapped one after
 * the other. */
#include "commands/combine.h"

#include "commands/summary.h"
#include "files/files.h"
#include "files/formats.h"
#include "files/paths.h"
#include "options/decode.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/signals.h"

static bool take_in(petal_filter *filter, const char *path, const struct args *args,
                    const char *verb, operation *operate)
{
    petal_error error;
    petal_filter *other = open_filter(path, PETAL_OPEN_MAP | PETAL_OPEN_VERIFY, args);
    if (!other) return false;
    uint32_t type = info_of(filter).key_type, other_type = info_of(other).key_type;
    bool agree = key_types_agree(type, other_type);
    progress_begin("taking in", path);
    petal_status status = agree ? operate(filter, other, &error) : PETAL_OK;
    progress_end();
    petal_free(other);
    if (!agree)
        return complain(path, "cannot %s with %s: its keys are of type %s, there of type %s", verb,
                        args->operands[0], key_type_name(other_type), key_type_name(type));
    if (status == PETAL_OK) return true;
    if (status == PETAL_ERR_UNSUPPORTED)
        return complain(path, "cannot %s with %s: %s", verb, args->operands[0], error.message);
    return complain(path,
                    "cannot %s with %s (%s); make both with the same options, or this one with "
                    "--template %s",
                    verb, args->operands[0], error.message, args->operands[0]);
}

/* The result goes into the kind of file that the first one is, or that --to names. */
static bool take_in_all(petal_filter *filter, const struct args *args, const char *format,
                        const char *verb, operation *operate)
{
    for (size_t i = 1; i < args->operand_count; i++)
        if (stop_signal() || !take_in(filter, args->operands[i], args, verb, operate)) return false;
    return stop_signal() == 0 &&
           save_filter(filter, args->output, args->to ? args->to : format_to_keep(filter, format),
                       args);
}

int combine(const struct args *args, const char *verb, operation *operate)
{
    if (!args->output) return misused(verb, "needs -o OUT");
    if (args->operand_count == 0) return misused(verb, "needs filters to %s", verb);
    if (!check_format(args->to) || !may_save(args->output, args)) return STATUS_ERROR;
    bool onto_first = is_same_file(args->output, args->operands[0]);
    if (!onto_first && !differs_from_inputs(args->output, args->operands, args->operand_count))
        return STATUS_ERROR;
    catch_stop_signals(); /* or a temporary file may be left behind */
    const char *format = NULL;
    /* If the first file is replaced, nobody else may change it meanwhile. */
    unsigned locked = onto_first ? PETAL_OPEN_LOCKED : 0;
    petal_filter *filter =
        open_container(args->operands[0], PETAL_OPEN_LOAD | locked, args, &format);
    bool good = filter && take_in_all(filter, args, format, verb, operate);
    if (good) {
        warn_if_overfilled(args->output, filter);
        print_summary(args->output, filter, args);
    }
    petal_free(filter);
    if (!good && stop_signal()) return STATUS_SIGNAL + stop_signal();
    return good ? STATUS_OK : STATUS_ERROR;
}
