#!/usr/bin/env bats
# fold.bats - petal fold produces the same filter as building at the smaller size, petal build reads
# any number of keys only once, and petal merge accepts filters of different sizes.
load helper

bits_of() { petal info --json "$1" | field bits; }

@test "a folded file equals, byte for byte, a file created at the small size" {
    seq 5000 >keys
    for kind in '--scheme blocked' '--scheme blocked --lines-per-key 2' '--scheme classic'; do
        petal build $kind --bits 3686400 --hashes 8 --metadata kept -o large.petal keys
        for bits in 3686400 1843200 1228800 184320 61440; do
            petal fold --force --bits $bits -o folded.petal large.petal
            petal build --force $kind --bits $bits --hashes 8 --metadata kept -o small.petal keys
            is "$(petal info --json folded.petal | field content_id)" "$(petal info --json small.petal | field content_id)"
            cmp <(tail -c $((bits / 8)) folded.petal) <(tail -c $((bits / 8)) small.petal)
        done
        rm -f ./*.petal
    done
}

@test "fold chooses the smallest size that keeps the rate, and no key is missing" {
    make_urls
    petal create -p 0.1% -n 10M -o large.petal
    petal add large.petal urls.txt
    petal build -p 0.1% -o planned.petal urls.txt
    petal fold -o small.petal large.petal
    is "$(petal check -c small.petal urls.txt)" 58240
    petal fold -n 1M -o room.petal large.petal
    [ "$(bits_of room.petal)" -gt "$(bits_of small.petal)" ]
    [ "$(petal info --json room.petal | field capacity)" -ge 1000000 ]
    petal fold -p 1% -o coarse.petal large.petal
    [ "$(bits_of coarse.petal)" -le "$(bits_of small.petal)" ]
    # of 1,000,000 absent keys, 1 % are expected to be found; 5 standard deviations are 498
    [ "$(seq 1000000 | petal check -c coarse.petal)" -le 10498 ]
    run -0 --separate-stderr petal fold -p 1% -o again.petal coarse.petal
    contains "$stderr" "stays at"
    is "$(bits_of again.petal)" "$(bits_of coarse.petal)"
}

@test "if a filter can't be folded, the message gives the reason and nothing is written" {
    seq 100 >keys
    petal build --scheme counting -o counting.petal keys
    petal build --to guava -o guava.bin keys
    petal create --grow -n 10 -o grown.petal && petal add grown.petal keys
    petal create --window 100 -o window.petal
    petal build --bits 51200 --hashes 6 -o bits.petal keys
    petal build -n 10k -p 1% -o plain.petal keys
    refuses "counters cannot be folded; drop the counts first" petal fold -p 1% -o x counting.petal
    refuses "a guava-mitz64 filter cannot be folded" petal fold -p 1% --from guava -o x guava.bin
    refuses "the filter has grown" petal fold -p 1% -o x grown.petal
    refuses "a window cannot be folded" petal fold -p 1% -o x window.petal
    refuses "the filter records no rate" petal fold -o x bits.petal
    for bits in 1 511 15360 102400; do
        refuses "51200 bits cannot be folded to $bits: give a divisor that is a multiple of 512" petal fold --bits $bits -o x bits.petal
    done
    refuses "its rate at 100000000 keys is" petal fold -n 100M -o x plain.petal
    refuses "fold: --bits fixes the size; leave out -n" petal fold --bits 512 -n 5 -o x plain.petal
    refuses "fold: needs -o FILE" petal fold plain.petal
    refuses "fold: needs one filter" petal fold -o x plain.petal bits.petal
    refuses "plain.petal" petal fold -o plain.petal --force plain.petal
    refuses "keys" petal fold -o x keys
    [ ! -e x ]
}

@test "merge folds the larger of two filters, in any order" {
    seq 3000 >a
    seq 2001 5000 >b
    petal build --bits 614400 --hashes 6 -o large.petal a
    petal build --bits 122880 --hashes 6 -o small.petal b
    sort -n a b | uniq | petal build --bits 122880 --hashes 6 -o both.petal
    petal merge -o one.petal large.petal small.petal
    petal merge -o two.petal small.petal large.petal
    for merged in one two; do
        is "$(petal info --json $merged.petal | field content_id)" "$(petal info --json both.petal | field content_id)"
    done
    refuses "is smaller than large.petal; write to another file" petal merge --force -o large.petal large.petal small.petal
    petal merge --force -o small.petal small.petal large.petal
    is "$(petal check -c small.petal a)" 3000
    petal build --bits 153600 --hashes 6 -o third.petal b
    refuses "they differ in bits" petal merge -o x small.petal third.petal
    petal build --bits 614400 --hashes 7 -o seven.petal b
    refuses "they differ in hashes" petal merge -o x one.petal seven.petal
    refuses "they differ in bits" petal intersect -o x large.petal both.petal
}

@test "a pipe with more keys than can be counted is read once, and the filter is folded to its size" {
    seq 1000000 >keys
    petal build -n 1M -o planned.petal keys
    for kind in '--scheme blocked -p 1%' '--scheme classic -p 1%' '--scheme blocked -p 0.001%'; do
        petal build --force $kind -n 1M -o planned.petal keys
        cat keys | PETAL_COUNT_MEMORY=2MiB petal build --force $kind --memory 64MiB -o b.petal
        # if the filter is smaller than an eighth of --memory, it exceeds the planned size by at
        # most 1/8
        [ "$(bits_of b.petal)" -le $(($(bits_of planned.petal) / 8 * 9)) ]
        is "$(petal check -c b.petal keys)" 1000000
    done
    cat keys | PETAL_COUNT_MEMORY=2MiB petal build --force --memory 64MiB -p 1% -o b.petal
    # of 1,000,000 absent keys, 1 % are expected to be found; 5 standard deviations are 498
    [ "$(seq 1000001 2000000 | petal check -c b.petal)" -le 10498 ]
    is "$(petal info --json b.petal | field target_rate)" 0.01
    # the same keys produce the same file in any order, with repeats, and with any number of threads
    export PETAL_COUNT_MEMORY=2MiB
    for threads in 1 4; do
        tac keys | cat - keys |
            petal build --force --memory 64MiB -p 1% --threads $threads -o again.petal
        cmp b.petal again.petal
    done
    # if the keys fit in PETAL_COUNT_MEMORY, the filter is the same as without --memory
    petal build --force --memory 64MiB -p 1% -o few.petal < <(head -n 1000 keys)
    petal build --force -p 1% -o counted.petal < <(head -n 1000 keys)
    cmp few.petal counted.petal
}

@test "if there are more keys than --memory allows, build says so; with --grow the filter grows" {
    seq 300000 >keys
    export PETAL_COUNT_MEMORY=1MiB
    run -0 --separate-stderr petal build -p 1% --memory 256KiB -o full.petal keys
    contains "$stderr" "give more --memory, or --grow, or -n KEYS"
    contains "$stderr" "rate now"
    is "$(petal check -c full.petal keys)" 300000
    run -0 --separate-stderr petal build -p 1% --memory 256KiB --grow -o grown.petal keys
    contains "$stderr" "--memory has no room for the keys"
    is "$(petal info --json grown.petal | field policy)" growing
    is "$(petal check -c grown.petal keys)" 300000
    # of 1,000,000 absent keys, 1 % are expected to be found; 5 standard deviations are 498
    [ "$(seq 300001 1300000 | petal check -c grown.petal)" -le 10498 ]
    run -0 --separate-stderr petal build -p 1% --memory 8MiB --grow -o fits.petal keys
    is "$output$stderr" ""
    is "$(petal info --json fits.petal | field policy)" null
    [ "$(petal info --json fits.petal | field bytes)" -lt 600000 ]
    is "$(petal check -c fits.petal keys)" 300000
    run -0 --separate-stderr petal build -p 1% --grow -n 1000 -o begun.petal keys
    is "$(petal info --json begun.petal | field policy)" growing
    refuses "-p with --memory is for blocked, classic and static" petal build -p 1% --memory 1MiB --to guava -o x keys
    refuses "--grow takes -n, -p, --memory and --scheme only" petal build --grow --hashes 5 -o x keys
    refuses "not enough memory to count" petal build --memory 1MiB -o x keys
    [ ! -e x ]
}
