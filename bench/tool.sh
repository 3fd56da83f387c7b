#!/bin/sh
# tool.sh - bench/tool.sh BIN WORK [LINES [ROUNDS]]: the petal of BIN beside what does the same job, on generated addresses.
#
# Every round runs every contender once, so that a machine that slows down slows them all; the medians of wall time and CPU
# time and the largest peak memory are printed as a table, with wall time as a multiple of the first tool of each job. What
# comes out is counted each time, and a wrong count ends it all: a fast wrong answer is no answer. WORK keeps the input.
# Hash-set tools are measured where they are in PATH or in WORK/bin: see ./dev help.
set -eu
BIN=$1 WORK=$2 LINES=${3:-10000000}
ROUNDS=${4:-$([ "$LINES" -lt 50000000 ] && echo 3 || echo 1)}
PATH=$BIN:$PATH:$WORK/bin
LC_ALL=C
export PATH LC_ALL
die() { printf 'bench/tool.sh: %s\n' "$*" >&2; exit 1; }
cd "$WORK"

# ---- input ----------------------------------------------------------------------------------------------------------
# 43.2 % of the lines are the first of their kind (see tool/urls.c); no line of `others` is among them.

input=urls-$LINES others=others-$LINES
[ -s "$input" ] || { ./urls "$LINES" >"$input.part" && mv "$input.part" "$input"; }
[ -s "$others" ] || { ./urls "$LINES" "$((LINES / 2))" 2 >"$others.part" && mv "$others.part" "$others"; }
keys=$((LINES / 100 * 44)) # a little more than there are different ones
: >results

# ---- one run --------------------------------------------------------------------------------------------------------

# run JOB NAME INPUT COMMAND...: measures it, and leaves in $count how many lines came out.
run() {
    job=$1 name=$2 from=$3
    shift 3
    count=$(/usr/bin/time -f '%e %U %S %M' -o measured "$@" <"$from" | wc -l)
    printf '%s\t%s\t%s\t%s\n' "$job" "$name" "$(tail -n 1 measured | tr ' ' '\t')" "$count" >>results
}
have() { command -v "$1" >/dev/null; }

# is EXPECTED; is_about EXPECTED: of the last run. A filter at 1 % may drop that many; never does it print more.
is() { [ "$count" -eq "$1" ] || die "$name: $count lines, expected $1"; }
is_about() { [ "$count" -le "$1" ] && [ "$count" -ge "$(($1 / 1000 * 989))" ] || die "$name: $count lines of $1"; }
is_few() { [ "$count" -le "$((LINES / 1000 * 12))" ] || die "$name: $count false positives"; }

deduplicate() {
    run 'unique lines' 'sort -u' "$input" sort -u
    distinct=$count
    run 'unique lines' 'petal seen' "$input" petal seen -n "$keys" && is_about "$distinct"
    run 'unique lines' 'petal seen --threads 1' "$input" petal seen -n "$keys" --threads 1 && is_about "$distinct"
    run 'unique lines' "mawk '!s[\$0]++'" "$input" mawk '!s[$0]++' && is "$distinct"
    ! have huniq || { run 'unique lines' huniq "$input" huniq && is "$distinct"; }
    ! have runiq || { run 'unique lines' runiq "$input" runiq - && is "$distinct"; }
}

fill() {
    run 'a filter of them' 'petal build -n' "$input" petal build -n "$keys" -o planned.petal --force
    run 'a filter of them' 'petal build -n --threads 1' "$input" petal build -n "$keys" -o planned.petal --force --threads 1
    run 'a filter of them' 'petal build (counts first)' "$input" petal build -o counted.petal --force
    added=$(petal info --json counted.petal | sed 's/.*"items":\([0-9]*\).*/\1/')
    [ "$added" -eq "$distinct" ] || die "petal build counted $added, expected $distinct"
    rm -f dcso.bloom
    bloom create -n "$keys" -p 0.01 dcso.bloom
    run 'a filter of them' 'bloom insert (DCSO)' "$input" bloom insert dcso.bloom
}

# ask JOB FILE CHECK...
ask() {
    asked=$1 file=$2
    shift 2
    run "$asked" 'petal check' "$file" petal check planned.petal - && "$@"
    run "$asked" 'petal check --threads 1' "$file" petal check --threads 1 planned.petal - && "$@"
    run "$asked" 'bloom check (DCSO)' "$file" bloom check dcso.bloom && "$@"
}

for round in $(seq "$ROUNDS"); do
    printf 'round %s of %s\n' "$round" "$ROUNDS" >&2
    deduplicate
    fill
    ask 'which are in it: all' "$input" is "$LINES"
    ask 'which are in it: none' "$others" is_few
done

# ---- the table ------------------------------------------------------------------------------------------------------

printf '%s lines, %s bytes, %s of them different; %s round(s), %s CPUs\n\n' "$LINES" "$(wc -c <"$input")" "$distinct" \
    "$ROUNDS" "$(nproc)"
awk -F '\t' '
    function median(list, count,    i, j, t, v) {
        for (i = 1; i <= count; i++) v[i] = list[i]
        for (i = 2; i <= count; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return v[int((count + 1) / 2)]
    }
    {
        row = $1 "\t" $2
        if (!(row in runs)) order[++rows] = row
        n = ++runs[row]
        wall[row, n] = $3; cpu[row, n] = $4 + $5
        if ($6 > peak[row]) peak[row] = $6
        lines[row] = $7
    }
    END {
        print "| job | tool | wall s | CPU s | peak MiB | lines out | times as long as petal |"
        print "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
        for (r = 1; r <= rows; r++) {
            row = order[r]; split(row, part, "\t")
            for (i = 1; i <= runs[row]; i++) { w[i] = wall[row, i]; c[i] = cpu[row, i] }
            mw[r] = median(w, runs[row]); mc[r] = median(c, runs[row])
            if (!(part[1] in base) && part[2] ~ /^petal/) base[part[1]] = mw[r]
        }
        for (r = 1; r <= rows; r++) {
            row = order[r]; split(row, part, "\t")
            printf "| %s | `%s` | %.2f | %.2f | %.1f | %d | %.2f |\n", part[1], part[2], mw[r], mc[r], peak[row] / 1024,
                lines[row], mw[r] / base[part[1]]
        }
    }' results
