# measure.sh - functions that the scripts of this folder share: they measure one run of a program,
# and print the table of all runs. A script that sources this file must define die(),
# and have changed to its own folder, in which two files are written.
#
# Every round runs every contender once, so that a slowdown of the machine affects all of them. The
# table has the medians of wall time and CPU time and the largest peak memory, and the ratio of the
# wall time to that of the first tool of each job. The script counts the output lines of each run,
# and ends if the count is wrong, because a wrong answer is worthless, no matter how fast it is.

: >results

# run JOB NAME INPUT COMMAND...: runs and measures the command, and stores the number of output
# lines in $count.
run() {
    job=$1 name=$2 from=$3
    shift 3
    count=$(/usr/bin/time -f '%e %U %S %M' -o measured "$@" <"$from" | wc -l)
    printf '%s\t%s\t%s\t%s\n' "$job" "$name" "$(tail -n 1 measured | tr ' ' '\t')" "$count" >>results
}
have() { command -v "$1" >/dev/null; }

# is EXPECTED: checks the number of output lines of the last run.
is() { [ "$count" -eq "$1" ] || die "$name: $count lines, expected $1"; }

print_table() {
    awk -F '\t' '
        function median(list, count,    i, j, t, v) {
            for (i = 1; i <= count; i++) v[i] = list[i]
            for (i = 2; i <= count; i++)
                for (j = i; j > 1 && v[j - 1] > v[j]; j--) {
                    t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
                }
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
}
