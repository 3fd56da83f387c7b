#!/usr/bin/env bats
# build.bats - petal create and petal build either create the complete filter or change nothing.
load helper

@test "build of the URL list counts 29,619 distinct keys, and none is missing" {
    make_urls
    run -0 --separate-stderr petal build -p 1% -o u.petal urls.txt
    is "$output$stderr" ""
    is "$(petal info --json u.petal | field capacity)" 29619
    is "$(petal info --json u.petal | field items)" 29619
    is "$(petal check -c u.petal urls.txt)" 58240
    run -1 petal check -v u.petal urls.txt
    is "$output" ""
}

@test "building from standard input, from - and from several files gives the same filter" {
    make_urls
    head -n 20000 urls.txt >a
    tail -n +20001 urls.txt >b
    petal build -o whole.petal urls.txt
    petal build -o stdin.petal <urls.txt
    petal build -o dash.petal - <urls.txt
    petal build -o parts.petal a b
    cat a b | petal build -o mixed.petal a - b <b
    for f in stdin dash parts mixed; do cmp whole.petal $f.petal; done
}

@test "the same keys in any order give the same bytes and content id, and compare as equal" {
    make_urls
    petal build -o 1.petal urls.txt
    petal build -o 2.petal urls.txt
    cmp 1.petal 2.petal
    sort -r urls.txt | petal build -o 3.petal
    cmp 1.petal 3.petal
    petal build -n 29619 -o 4.petal urls.txt
    sort urls.txt | petal build -n 29619 -o 5.petal
    cmp 4.petal 5.petal
    is "$(petal info --json 4.petal | field content_id)" "$(petal info --json 1.petal | field content_id)"
    is "$(petal info --json 4.petal | field items)" 58240
    size=$(petal info --json 1.petal | field bytes)
    cmp <(tail -c "$size" 1.petal) <(tail -c "$size" 4.petal)
}

@test "create and add make the same filter as build" {
    make_urls
    petal build -n 29619 -p 1% -o built.petal urls.txt
    petal create -n 29619 -p 1% -o added.petal
    petal add added.petal urls.txt
    is "$(petal info --json added.petal | field content_id)" "$(petal info --json built.petal | field content_id)"
    is "$(petal info --json added.petal | field items)" "$(petal info --json built.petal | field items)"
}

@test "every way to give a size works for build, in both schemes and with two lines per key" {
    seq 5000 >keys
    for options in '-p 0.1%' '--memory 8KiB' '-n 6000 --memory 8KiB' '--bits 70000 --hashes 7' '--bits 70000 -n 5000' \
        '-n 5000 -p 1% --hashes 4' '-p 1e-6 --lines-per-key 2'; do
        petal build --force -o b.petal $options keys
        is "$(petal check -c b.petal keys)" 5000
    done
    for options in '-p 0.1%' '--memory 8KiB' '--bits 70000 --hashes 7'; do
        petal build --force -o c.petal --scheme classic $options keys
        is "$(petal info --json c.petal | field scheme)" classic
        is "$(petal check -c c.petal keys)" 5000
    done
    [ "$(petal info --json b.petal | field lines_per_key)" -eq 2 ]
}

@test "a filter of no keys contains nothing, and a filter of one key contains that key" {
    petal build -o none.petal </dev/null
    run -1 petal check none.petal -e a -e ''
    is "$output" ""
    echo one | petal build -o one.petal
    is "$(petal check one.petal -e one -e two)" one
    is "$(petal info --json one.petal | field items)" 1
}

@test "the smallest sizes work: 1, 11, 511, 512 and 513 bits" {
    for bits in 1 11 511 512 513; do
        for scheme in classic blocked; do
            echo key | petal build --force -o f.petal --scheme $scheme --bits $bits --hashes 2
            petal check -q f.petal -e key
            petal verify f.petal >/dev/null
        done
        is "$(petal info --json f.petal | field bits)" $(((bits + 511) / 512 * 512))
    done
}

@test "a filter of 2^33 bits is a sparse file that can be created, filled, saved, mapped and queried" {
    petal create -o big.petal --bits 8589934592 --hashes 6
    is "$(petal info --json big.petal | field bytes)" 1073741824
    [ "$(du -k big.petal | cut -f1)" -lt 100000 ] || skip "this machine's file system has no holes"
    seq 1000 | petal build -o full.petal --bits 8589934592 --hashes 6
    is "$(seq 1000 | petal check -c full.petal)" 1000
    [ "$(du -k full.petal | cut -f1)" -lt 200000 ]
}

@test "a build without a size counts keys by their own hash: seed and secret change the filter, not the count" {
    make_urls
    head -c 16 /dev/zero >secret
    petal build -o plain.petal urls.txt
    petal build -o seeded.petal --seed 7 urls.txt
    petal build -o keyed.petal --secret-file secret urls.txt
    for f in plain seeded; do is "$(petal info --json $f.petal | field items)" 29619; done
    is "$(petal info --json --secret-file secret keyed.petal | field items)" 29619
    ! cmp -s plain.petal seeded.petal
}

@test "--seed random makes a different filter each time, and 64-bit seeds are kept exactly" {
    petal create -o 1.petal -n 10 --seed random
    petal create -o 2.petal -n 10 --seed random
    [ "$(petal info --json 1.petal | field seed)" != "$(petal info --json 2.petal | field seed)" ]
    petal create -o 3.petal -n 10 --seed 18446744073709551615
    is "$(petal info --json 3.petal | field seed)" 18446744073709551615
    petal create -o 4.petal -n 10 --seed 0x10
    is "$(petal info --json 4.petal | field seed)" 16
    refuses "--seed: 18446744073709551616: too large" petal create -o 5.petal -n 10 --seed 18446744073709551616
    refuses "--seed: 1.5: not a whole number" petal create -o 5.petal -n 10 --seed 1.5
    refuses "--seed is for xxh3, --secret-file for siphash" petal create -o 5.petal -n 10 --seed 1 --secret-file 1.petal
}

@test "the 11-bit filter of the primer answers probably for c, which nobody added" {
    petal create -o tiny.petal --scheme classic --bits 11 --hashes 2 --seed 197072
    printf 'a\nb\n' | petal add tiny.petal
    run -0 petal check tiny.petal --explain -e a -e b -e c -e d -e g
    is_as_expected tiny-explain.txt
    is "$(petal info --json tiny.petal | field bits_set)" 3
}

@test "an existing file is not overwritten without --force, and the keys are not even read" {
    echo precious >u.petal
    refuses "u.petal: exists; --force replaces it once the new one is complete" petal create -o u.petal -n 10
    refuses "u.petal: exists; --force replaces it once the new one is complete" petal build -o u.petal missing.txt
    is "$(cat u.petal)" precious
    echo key | petal build --force -o u.petal
    petal check -q u.petal -e key
    is "$(ls)" u.petal
}

@test "a build that fails leaves the old file and no other file" {
    echo key | petal build -o u.petal
    cp u.petal old
    printf '1\n2\nx\n' >numbers
    refuses 'numbers: line 3: not a whole number: "x"' petal build --force --key-type i64 -o u.petal numbers
    refuses "missing.txt: cannot open it: No such file or directory" petal build --force -o u.petal numbers missing.txt
    cmp u.petal old
    rm old numbers
    is "$(ls)" u.petal
}

@test "a build stopped by a signal writes nothing and leaves no file behind" {
    mkfifo pipe
    exec 4<>pipe
    "$PETAL" build -o u.petal --progress=lines pipe 3>&- 4>&- 2>message &
    running=$!
    seq 1000 >&4
    wait_until test -s message # it is reading
    kill -TERM $running
    status=0
    wait $running || status=$?
    is $status 143
    exec 4>&-
    rm message pipe
    is "$(ls)" ""
}

@test "an input file is not used as the output" {
    echo key >keys
    refuses "keys: is read from as well; write to another file" petal build --force -o keys keys
    ln keys same
    refuses "same: is read from as well" petal build --force -o same keys
    is "$(cat keys)" key
}

@test "metadata of up to 65,536 bytes is kept, from the command line or from a file" {
    petal create -o t.petal -n 10 --metadata 'made on Monday'
    is "$(petal info --metadata t.petal)" 'made on Monday'
    head -c 65536 /dev/urandom >blob
    petal create -o b.petal -n 10 --metadata @blob
    petal info --metadata b.petal | cmp - blob
    echo >>blob
    refuses "blob: has more than 65536 bytes" petal create -o c.petal -n 10 --metadata @blob
    refuses "none: cannot open it" petal create -o c.petal -n 10 --metadata @none
    [ ! -e c.petal ]
}

@test "if something is missing, the command names it" {
    refuses "build: needs -o FILE; see petal help build" petal build
    refuses "create: needs -o FILE" petal create -n 10
    refuses "create: takes no keys (x); build does" petal create -o y -n 10 x
    refuses "create: how many keys? give -n KEYS" petal create -o y
    refuses "plan: takes no keys" petal plan -n 5 x
    for command in add check info verify; do refuses "$command: needs a filter FILE" petal $command; done
    for command in merge intersect; do
        refuses "$command: needs -o OUT" petal $command a
        refuses "$command: needs filters to $command" petal $command -o y
    done
    [ ! -e y ]
}

@test "if build chose the size from the number of keys, it does not call the filter too small" {
    part=$((16 / $(nightly_step 5)))
    for ((keys = 1; keys < 30000; keys += keys / part + 1)); do
        for rate in 10% 1% 0.1%; do
            seq $keys | petal build --force -p $rate -o b.petal 2>message
            is "$(cat message)" ""
        done
    done
    seq 100001 200000 | petal add b.petal 2>message
    contains "$(cat message)" "plan a larger one"
}
