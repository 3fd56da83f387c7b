#!/usr/bin/env bats
# time.bats - with --time-field, a time window is based on the times in the rows.
load helper

DAY=86400000

# requests FILE: prints the request numbers in a program's output, for any of the three log formats
requests() { grep -o -E 'GET /[0-9]+|^[0-9]+,|"request": [0-9]+' "$1" | tr -dc '0-9\n'; }

# span_of OPTION...: prints how long the filter may remember a key beyond its window of one day, in
# ms
span_of() {
    petal create --force -o span.petal --window 1d "$@"
    local parts=$(($(petal info --json span.petal | field generations) - 1))
    echo $(((DAY + parts - 1) / parts))
}

# is_as_modelled FILE: compares the output with the exact model of lib/access_log.py
is_as_modelled() {
    requests "$1" | sort >printed
    is "$(sort repeats | comm -12 - printed | head -n 3)" "" # no line was printed twice within a window
    is "$(sort fresh | comm -23 - printed | head -n 3)" ""   # every fresh line was printed
}

@test "in a log of three weeks, in three formats, exactly those lines are new that an exact model calls new" {
    needs python3
    plan="-n 20k -p 1e-9"
    span=$(span_of $plan)
    for seed in 1 2 3; do
        python3 "$PETAL_ROOT/tests/cli/lib/access_log.py" $seed 30000 21 $DAY "$span"
        [ "$(wc -l <repeats)" -gt 10000 ] && [ "$(wc -l <fresh)" -gt 1000 ] || fail "too easy"
        petal seen --window 1d $plan --time-field 4 -k 1 log.apache 2>said >out.apache
        is "$(cat said)" "petal: log.apache: times read as day/Mon/year, from $(head -n 2 log.csv | tail -n 1 | cut -d, -f2 | tr TZ '  ')UTC on"
        is_as_modelled out.apache
        petal seen --window 1d $plan --csv client --time-field time log.csv 2>said >out.csv
        contains "$(cat said)" "petal: log.csv: times read as ISO 8601, from 20"
        is_as_modelled out.csv
        petal seen --window 1d $plan --jsonl .client --time-field .t log.jsonl 2>said >out.jsonl
        contains "$(cat said)" "petal: log.jsonl: times read as milliseconds, from 20"
        for form in csv jsonl; do requests out.$form | cmp - <(requests out.apache); done
        # With -d, all other lines are printed, and the number of threads makes no difference.
        petal seen -d --window 1d $plan --time-field 4 -k 1 --threads 5 log.apache 2>said >rest
        cmp <(sort out.apache rest) <(sort log.apache)
    done
}

@test "two runs with -f over the parts of a log equal one run, even if petal add made the file" {
    needs python3
    python3 "$PETAL_ROOT/tests/cli/lib/access_log.py" 4 6000 9 $DAY 0
    seen() { petal seen --time-field 4 -k 1 "$@" 2>said; }
    seen --window 1d -n 20k log.apache >whole
    head -n 2500 log.apache >first
    tail -n +2501 log.apache >second
    seen --window 1d -n 20k -f s.petal first >out
    seen -f s.petal second >>out
    cmp out whole
    petal create -o a.petal --window 1d -n 20k
    petal add --time-field 4 -k 1 a.petal first 2>said
    { seen --window 1d -n 20k first; seen -f a.petal second; } | cmp - whole
    is "$(petal info --json a.petal | field clock_ms)" "$(petal info --json s.petal | field clock_ms)"
}

@test "each form of a time gives the same milliseconds" {
    petal create -o empty.petal --window 1d -n 10
    clock_of() { # clock_of TIME [OPTION...]: prints the filter's clock after adding a CSV row with
                 # this time
        local time=$1
        shift
        cp empty.petal f.petal
        petal add "$@" --csv 1 --time-field 2 f.petal <<<"key,\"$time\"" 2>said
        petal info --json f.petal | field clock_ms
    }
    is "$(clock_of 1706700000)" 1706700000000
    is "$(clock_of 1706700000.25)" 1706700000250
    is "$(clock_of 1706700000250)" 1706700000250
    is "$(clock_of 1706700000250999)" 1706700000250
    is "$(clock_of 1706700000250999999)" 1706700000250
    is "$(clock_of 2024-01-31)" 1706659200000
    for time in 2024-01-31T11:20:00 2024-01-31T11:20Z '2024-01-31 11:20:00' '2024/01/31 11:20:00' 20240131T112000Z \
        2024-01-31T12:20:00+01:00 '2024-01-31 12:20:00 +0100' 2024-01-30T23:20-12 '2024-01-31 11:20:00 UTC' \
        '[31/Jan/2024:12:20:00 +0100]' '31/Jan/2024:11:20:00'; do
        is "$time $(clock_of "$time")" "$time 1706700000000"
    done
    is "$(clock_of 2024-01-31T11:20:00.25Z)" 1706700000250
    is "$(clock_of '2024-01-31 11:20:00,25')" 1706700000250
    is "$(clock_of 2024-02-29)" 1709164800000
    is "$(clock_of 1970-01-02)" 86400000
    for time in '' x -5 2024 2024-13-01 2023-02-29 2024-01-31T25:00 '2024-01-31 11:61' 2024-01-31x \
        1706700000x 99999999999999999999 '[31/Jan/2024:12:20:00 +0100' 31/Foo/2024:00:00:00; do
        [ "$time" = 2024 ] || is "$time $(clock_of "$time")" "$time 0"
        [ "$time" = 2024 ] || contains "$(cat said)" 'line 1: its time cannot be read: "key,'
        [ "$time" = 2024 ] || contains "$(cat said)" "1 row without a key: left out"
    done
    petal add --jsonl .k --time-field .t f.petal <<<'{"k": 1, "t": "31\/Jan\/2025:11:20:00 +0000"}' 2>said
    is "$(petal info --json f.petal | field clock_ms)" 1738322400000
}

@test "a time may contain the blanks that separate fields" {
    printf '%s\n' 'a 2024-01-31 11:20:00,250 +0100 INFO' 'b 2024-01-31 11:20:01 -5 x' 'c 2024-02-01 12 x' >log
    petal create -o f.petal --window 1h -n 10
    clock() {
        petal add -k 1 "$@" f.petal 2>said
        petal info --json f.petal | field clock_ms
    }
    is "$(clock --time-field 2 < <(sed -n 1p log))" 1706696400250
    is "$(clock --time-field 2 < <(sed -n 2p log))" 1706700001000
    is "$(clock --time-field 2 < <(sed -n 3p log))" 1706745600000
    is "$(clock -t ' ' --time-field 2 < <(echo 'd 2024-02-02 00:00:01'))" 1706832001000
    is "$(clock -t ';' --time-field 2 < <(echo 'd;2024-02-03 00:00:01;04'))" 1706918401000
}

@test "the first time in a file determines the form of all, and rows of another form are counted" {
    printf 'a,1700000000\nb,1700000000000\nc,2023-11-14\nd,1700000001\n' >log
    run -0 --separate-stderr petal seen --window 1d --csv 1 --time-field 2 log
    # Rows without a time are passed on.
    is "$output" $'a,1700000000\nb,1700000000000\nc,2023-11-14\nd,1700000001'
    is "${stderr_lines[0]}" "petal: log: times read as seconds, from 2023-11-14 22:13:20 UTC on"
    is "${stderr_lines[1]}" 'petal: log: line 2: its time cannot be read: "b,1700000000000"'
    is "${stderr_lines[3]}" "petal: 2 rows without a key: passed on"
    printf 'x,\na,2023-11-15\n' >other
    run -0 --separate-stderr petal seen --window 1d --csv 1 --time-field 2 log other log
    is "${#lines[@]}" 7 # a is a repeat in the second and third file, d in the third
    contains "$stderr" "petal: other: times read as ISO 8601, from 2023-11-15 00:00:00 UTC on"
    run -2 --separate-stderr petal seen --strict --window 1d --csv 1 --time-field 2 log
    is "$output" a,1700000000
    contains "$stderr" 'petal: log: line 2: its time cannot be read: "b,1700000000000"'
}

@test "the clock never goes back: late rows count at the latest time, and files in the wrong order are reported" {
    day() { echo "$1,2024-01-$2"; }
    { day a 01; day b 03; day a 02; day b 01; } >log
    run -0 --separate-stderr petal seen --window 1d --csv 1 --time-field 2 log
    is "$output" $'a,2024-01-01\nb,2024-01-03\na,2024-01-02' # the last b counts as a repeat
    contains "$stderr" "petal: 1 row is more than a window (1d) older than earlier rows"
    run -0 --separate-stderr petal seen --verbose --window 3d --csv 1 --time-field 2 log
    is "$output" $'a,2024-01-01\nb,2024-01-03'
    contains "$stderr" "petal: 4 read, 2 new, 2 repeats; 2 late, by up to 2d"
    petal create -o f.petal --window 1d -n 10
    run -0 --separate-stderr petal add --csv 1 --time-field 2 f.petal log
    contains "$stderr" "petal: f.petal: 1 row is more than a window (1d) older than earlier rows"
    is "$(petal info --json f.petal | field clock_ms)" 1704240000000
}

@test "a single time in the far future does not end the window for the others" {
    printf 'a,2024-01-01\nb,2255-01-01\na,2024-01-01\n' >log
    run -0 --separate-stderr petal seen --window 1d --csv 1 --time-field 2 -f s.petal log
    is "$output" $'a,2024-01-01\nb,2255-01-01'
    contains "$stderr" 'line 2: its time is more than a day ahead (--now sets the clock): "b,2255-01-01"'
    is "$(petal info --json s.petal | field clock_ms)" 1704067200000
    run -0 --separate-stderr petal seen --window 1d --csv 1 --time-field 2 --now 2255-01-02 log
    is "$output" "$(cat log)"
}

@test "--now accepts dates, and also seconds" {
    for now in 1706700000 2024-01-31T11:20:00Z '31/Jan/2024:12:20:00 +0100'; do
        rm -f s.petal
        petal seen --window 1d --now "$now" -f s.petal <<<a >out
        is "$(petal info --json s.petal | field clock_ms)" 1706700000000
    done
    petal check -q --now 2024-02-01 s.petal -e a
    run -1 petal check --now 2024-02-03 s.petal -e a
    for now in 0 soon 2024-02-30 2024-01-31x; do
        refuses "--now $now: not a time; write 2024-01-31" petal seen --window 1d --now "$now" </dev/null
    done
}

@test "if a time window reads a file without --time-field, there is a remark" {
    printf 'a\nb\n' >log
    hint="log: its lines count as of now; --time-field FIELD reads the time of each"
    run -0 --separate-stderr petal seen --window 1d log
    is "$stderr" "petal: $hint"
    run -0 --separate-stderr petal seen --window 1d <log
    is "$stderr" "petal: standard input: ${hint#log: }"
    petal create -o f.petal --window 1d -n 10
    run -0 --separate-stderr petal add f.petal log
    is "$stderr" "petal: $hint"
    for command in "seen --window 1d --now 2024-01-01 log" "seen --window 10 log" "seen log" "add --now 2024-01-01 f.petal log"; do
        run -0 --separate-stderr petal $command
        is "$stderr" ""
    done
    run -0 --separate-stderr petal seen --window 1d < <(cat log)
    is "$stderr" ""
}

@test "invalid uses of --time-field are refused" {
    echo 'a 2024-01-01' >log
    refuses "--time-field: goes with -k, --csv or --jsonl" petal seen --window 1d --time-field 2 log
    refuses "--time-field x: not numbers of fields" petal seen --window 1d -k 1 --time-field x log
    refuses "--time-field 1,2: the time is one field" petal seen --window 1d -k 1 --time-field 1,2 log
    refuses "seen: --time-field is for a window of time; give --window 7d" petal seen -k 1 --time-field 2 log
    refuses "seen: --time-field is for a window of time; give --window 7d" petal seen --window 100 -f s.petal -k 1 --time-field 2 log
    [ ! -e s.petal ]
    petal create -o f.petal -n 10
    refuses "f.petal: has no window of time; leave out --time-field" petal add -k 1 --time-field 2 f.petal log
    refuses "f.petal: has no window of time; leave out --time-field" petal seen -f f.petal -k 1 --time-field 2 log
    refuses "-e: has no time; leave out --time-field" petal seen --window 1d -k 1 --time-field 2 -e a
    refuses 'has no column "when" in its header' petal seen --window 1d --csv a --time-field when <<<a,b
    printf 'a,2024-01-01\n' >t.csv
    # The time field may be part of the key.
    is "$(petal seen --window 1d --csv 1,2 --time-field 2 t.csv t.csv 2>said)" a,2024-01-01
}

@test "the example in the manual page works unchanged" {
    needs man groff
    example=$(man -l "$PETAL_ROOT/docs/man/petal.1" 2>said | sed "s/.$(printf '\b')//g" | sed -n 's/^[ \t]*\(petal seen --window 1d --time-field .*\)$/\1/p' | tail -n 1)
    contains "$example" access.log
    for day in 01 01 02 04; do echo "10.0.0.1 - - [$day/Jan/2024:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5"; done >access.log
    eval "$example" 2>said | cmp - <(sed '2,3d' access.log)
}
