#!/usr/bin/env bats
# layers.bats - filters that grow or forget never miss a key that they must contain, whether used
# through a file or in the tool's memory.
load helper

@test "a growing filter keeps every key and its rate, far beyond its initial capacity" {
    petal create -o g.petal -n 100 -p 1% --grow
    for from in 1 5001 20001 60001; do
        seq $from 100000 | petal add g.petal
    done
    is "$(seq 100000 | petal check -c g.petal)" 100000
    # of 1,000,000 absent keys, 1 % are expected to be found; 5 standard deviations are 498
    [ "$(seq 1000001 2000000 | petal check -c g.petal)" -le 10698 ]
    is "$(petal info --json g.petal | field layers)" 10
    is "$(petal info --json g.petal | field policy)" growing
    petal verify g.petal
}

@test "seen without -n prints what awk prints, except for drops within the rate, at any length" {
    seq 3000000 | petal seen -f s.petal >fresh
    # at most 1 % of the lines plus 5 standard deviations are dropped
    [ "$(wc -l <fresh)" -ge $((3000000 - 30000 - 870)) ]
    is "$(sort fresh | uniq -d | wc -l)" 0
    is "$(seq 3000000 | petal seen -f s.petal | wc -l)" 0
    is "$(petal info --json s.petal | field layers)" 2
}

@test "the number of threads doesn't change the bytes of a layered filter" {
    seq 300000 | petal seen --threads 1 --window 50k -f 1.petal >1
    seq 300000 | petal seen --threads 4 --window 50k -f 2.petal >2
    cmp 1 2
    cmp 1.petal 2.petal
}

@test "in a window of keys, keys seen within it are repeats, and keys from before it and a generation are new" {
    run -0 petal seen --window 1000 -p 1e-6 -f w.petal < <(seq 5000)
    is "${#lines[@]}" 5000
    is "$(seq 4001 5000 | petal seen -d -f w.petal | wc -l)" 1000
    # each of the G generations holds 1000/(G-1) keys, so a key is forgotten after 2,000 more keys
    is "$(seq 3000 | petal seen -f w.petal | wc -l)" 3000
    is "$(petal info --json w.petal | field window_keys)" 1000
    petal verify w.petal
}

@test "a window of time uses the time of each run, and a clock set back drops nothing" {
    day=86400 now=1700000000
    echo first | petal seen --window 7d -n 1000 -p 1e-6 --now $now -f t.petal
    is "$(echo first | petal seen --now $((now + 6 * day)) -f t.petal)" ""
    # The key was refreshed six days earlier.
    is "$(echo first | petal seen --now $((now + 12 * day)) -f t.petal)" ""
    is "$(echo first | petal seen --now 5 -f t.petal)" ""
    is "$(echo first | petal seen --now $((now + 30 * day)) -f t.petal)" first
    is "$(petal check --now $((now + 36 * day)) t.petal -e first)" first
    run -1 petal check --now $((now + 50 * day)) t.petal -e first
    # The previous query must not have changed the file.
    is "$(petal check --now $((now + 36 * day)) t.petal -e first)" first
    is "$(petal info --json t.petal | field clock_ms)" $(((now + 30 * day) * 1000))
    echo second | petal add --now $((now + 50 * day)) t.petal
    run -1 petal check --now $((now + 50 * day)) t.petal -e first
    is "$(petal check --now $((now + 57 * day)) t.petal -e second)" second
}

@test "the default of --now is the present time" {
    echo a | petal seen --window 12h -f t.petal
    clock=$(petal info --json t.petal | field clock_ms) seconds=$(date +%s)
    [ $((clock / 1000)) -le "$seconds" ] && [ $((clock / 1000)) -ge $((seconds - 3600)) ]
}

@test "info describes the layers, and the generations with their ages" {
    petal create -o g.petal -n 1000 --grow
    seq 2500 | petal add g.petal
    run -0 petal info g.petal
    is_as_expected info-growing.txt
    seq 2500 | petal seen --window 1000 -f k.petal >fresh
    run -0 petal info k.petal
    is_as_expected info-window-keys.txt
    for day in 0 1 2 3 4 5; do
        seq $day $((day + 100)) |
            petal seen --window 3d -n 1000 --now $((1700000000 + day * 86400)) -f t.petal >fresh
    done
    run -0 petal info t.petal
    is_as_expected info-window-time.txt
}

@test "if a window of time gets more keys than expected, that is reported, and all are remembered" {
    run -0 --separate-stderr petal seen --window 1d -n 100 --now 1700000000 -f t.petal < <(seq 3000)
    is "${#stderr_lines[@]}" 1
    contains "$stderr" "petal: t.petal: the window holds more keys than planned (100), so it may be that more than 1 % of new lines are dropped"
    run -0 --separate-stderr petal add --now 1700000000 t.petal < <(seq 3000)
    contains "$stderr" "petal: t.petal: the window holds more keys than planned (100): rate now "
    contains "$stderr" ", planned 1 %; plan with a larger -n"
    is "$(seq 3000 | petal check -c --now 1700000000 t.petal)" 3000
    contains "$(petal info t.petal)" "more keys than planned in a window: "
    is "$(petal info --json t.petal | field overfull)" true
    generations=$(petal info --json t.petal | field generations)
    is "$(petal info --json t.petal | field layers)" $((2 * generations - 1))
    # A day later, the window must be empty again.
    run -0 --separate-stderr petal seen --now 1700200000 -f t.petal < <(seq 90)
    is "${#lines[@]}" 90
    is "$stderr" ""
    is "$(petal info --json t.petal | field overfull)" false
}

@test "all keys of a window may come at the same time, and the rate is kept" {
    run -0 --separate-stderr petal seen --window 1d -n 1M < <(seq 900000)
    is "$stderr" ""
    # at most 1.02 % of the lines are dropped
    [ "${#lines[@]}" -ge $((900000 - 9180)) ]
    seq 1000000 | petal seen --window 1d -n 1M --now 1700000000 -f w.petal | wc -l >fresh
    [ "$(cat fresh)" -ge $((1000000 - 10200)) ]
    is "$(seq 1000000 | petal check -c --now 1700086400 w.petal)" 1000000
    is "$(petal info --json w.petal | field overfull)" false
    # of 1,000,000 absent keys, 1 % are expected to be found; 5 standard deviations are 498
    [ "$(seq 1000001 2000000 | petal check -c --now 1700000000 w.petal)" -le 10698 ]
}

@test "if counting needs too much memory and the filter can't be folded, build says so" {
    seq 1000000 >keys
    export PETAL_COUNT_MEMORY=4MiB
    refuses "not enough memory to count" petal build --memory 1MiB -o d.petal keys
    refuses "not enough memory to count" petal build --to guava -o d.petal keys
    [ ! -e d.petal ]
}

@test "options that contradict each other are refused" {
    refuses "--grow or --window, not both" petal create -o x --grow --window 5 -n 5
    refuses "how many keys to begin with" petal create -o x --grow
    refuses "how many keys come in 7d" petal create -o x --window 7d
    refuses "leave out -n" petal create -o x --window 10M -n 5
    refuses "take -n, -p and --scheme only" petal create -o x --grow -n 5 --bits 100
    refuses "take -n, -p and --scheme only" petal create -o x --grow -n 5 --to guava
    refuses "minutes or millions? write 10min or 10M" petal seen --window 10m
    refuses "not a window" petal seen --window soon
    refuses "not a window" petal seen --window 7days
    refuses "at least 1 is needed" petal seen --window 0d
    petal create -o g.petal -n 100 --grow
    petal create -o w.petal --window 100
    refuses "cannot be combined by bits; add the keys, or query both" petal merge -o x g.petal g.petal
    refuses "cannot be combined by bits; add the keys, or query both" petal intersect -o x w.petal w.petal
    refuses "use petal" petal convert w.petal x --to parquet
    [ ! -e x ]
}

@test "windows can be given in all their units" {
    for pair in 90s:90000 30min:1800000 1.5h:5400000 7d:604800000 2w:1209600000 '1 d:86400000'; do
        petal create --force -o w.petal -n 100 --window "${pair%:*}"
        is "$(petal info --json w.petal | field window_ms)" "${pair#*:}"
    done
    for pair in 1000:1000 2k:2000 '1e3:1000' 1Ki:1024; do
        petal create --force -o w.petal --window "${pair%:*}"
        is "$(petal info --json w.petal | field window_keys)" "${pair#*:}"
    done
}

@test "a keyed filter grows and forgets with its secret" {
    echo 000102030405060708090a0b0c0d0e0f >secret
    petal create -o g.petal -n 10 --grow --secret-file secret
    seq 1000 | petal add --secret-file secret g.petal
    is "$(seq 1000 | petal check -c --secret-file secret g.petal)" 1000
    refuses "needs the secret" petal add g.petal
}
