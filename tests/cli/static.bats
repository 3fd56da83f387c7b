#!/usr/bin/env bats
# static.bats - petal build --scheme static creates the same file for any order of the keys, and
# commands that don't support a static file are refused with a reason.
load helper

@test "build --scheme static misses no key, and the same set gives the same file" {
    make_urls
    run -0 --separate-stderr petal build --scheme static -o s.petal urls.txt
    is "$output$stderr" ""
    is "$(petal info --json s.petal | field items)" 29619
    is "$(petal check -c s.petal urls.txt)" 58240
    petal verify s.petal
    sort -r urls.txt | petal build --scheme static --threads 1 -o other.petal
    cat urls.txt urls.txt | petal build --scheme static --threads 4 -o twice.petal -
    cmp s.petal other.petal
    cmp s.petal twice.petal
    petal build -o blocked.petal urls.txt
    [ "$(stat -c %s s.petal)" -lt $(($(stat -c %s blocked.petal) * 3 / 4)) ]
}

@test "static filters can have a secret, a seed, metadata and key types" {
    seq 5000 >keys
    printf 0123456789abcdef >secret
    petal build --scheme static --secret-file secret -o k.petal keys
    is "$(petal check --secret-file secret -c k.petal keys)" 5000
    run -2 petal check k.petal keys
    petal build --scheme static --seed 7 --metadata seven --key-type i64 -p 0.1% -o i.petal keys
    is "$(petal check -c --key-type i64 i.petal keys)" 5000
    is "$(petal info --json i.petal | field metadata)" seven
    petal build --scheme static -o - keys | petal check -c - keys >count
    is "$(cat count)" 5000
}

@test "for few keys a classic filter is smaller, so build makes one and says so" {
    seq 300 >keys
    run -0 --separate-stderr petal build --scheme static -o f.petal keys
    contains "$stderr" "f.petal: classic, which takes 384 bytes for so few keys; a static filter would take 448"
    is "$(petal info --json f.petal | field scheme)" classic
    is "$(petal check -c f.petal keys)" 300
    seq 3000 >keys
    run -0 --separate-stderr petal build --scheme static -o s.petal keys
    is "$stderr" ""
    is "$(petal info --json s.petal | field scheme)" static
    : >none
    petal build --scheme static -o n.petal none
    run -1 petal check n.petal keys
}

@test "info describes a static filter" {
    seq 100000 >keys
    petal build --scheme static -o s.petal keys
    run -0 petal info s.petal
    contains "$output" "static, xxh3, 6 columns, "
    contains "$output" "keys              100,000"
    contains "$output" "% now, 1 % planned"
}

@test "plan includes static if a rate is requested" {
    contains "$(petal plan -n 1M)" "static "
    is "$(petal plan -n 1M --memory 1MiB | grep -c ^static)" 0
    run -0 petal plan -n 1M --scheme static --json
    is "$(field scheme <<<"$output")" static
    petal build --scheme static -o s.petal <(seq 1000000)
    planned=$(field bytes <<<"$output") made=$(petal info --json s.petal | field bytes)
    [ $((made - planned)) -lt $((made / 200)) ] && [ $((planned - made)) -lt $((made / 200)) ]
}

@test "a command that a static filter doesn't support gives the reason and changes nothing" {
    seq 3000 >keys
    petal build --scheme static -o s.petal keys
    cp s.petal before.petal
    refuses "never changes" petal add s.petal keys
    refuses "never changes" petal remove s.petal keys
    seq 5000 9000 >new
    run -2 petal seen -f s.petal new
    contains "$output" "never changes"
    refuses "build one from both lists of keys" petal merge -o m.petal s.petal s.petal
    refuses "build one from both lists of keys" petal intersect -o m.petal s.petal s.petal
    refuses "build a smaller one from its keys" petal fold -p 5% -o m.petal s.petal
    refuses "equal content ids mean equal sets" petal compare s.petal s.petal
    refuses "send the whole file" petal diff -o p.patch s.petal s.petal
    refuses "never changes" petal create --template s.petal -o t.petal
    refuses "built from all its keys at once" petal create --scheme static -n 10 -o c.petal
    refuses "leave out -n" petal build --scheme static -n 10 -o c.petal keys
    refuses "lowest it reaches" petal build --scheme static -p 1e-12 -o c.petal keys
    refuses "leave out --chart" petal plan -n 1M --scheme static --chart c.svg
    cmp s.petal before.petal
    [ ! -e m.petal ] && [ ! -e c.petal ] && [ ! -e t.petal ] && [ ! -e p.patch ]
}

@test "damaged and truncated static files are detected" {
    seq 30000 >keys
    petal build --scheme static -o s.petal keys
    for at in 100 700 1100 5000 20000; do
        cp s.petal d.petal
        flip d.petal $at 1
        run -1 petal verify d.petal
    done
    for size in 0 100 1023 5000; do
        head -c $size s.petal >cut.petal
        run petal verify cut.petal
        [ "$status" -ne 0 ]
    done
}

@test "build --scheme static --memory needs less memory, makes the same file, and leaves no other file" {
    seq 300000 >keys
    petal build --scheme static -o s.petal keys
    mkdir spare out
    for limit in 64KiB 200KB 1MiB 3MiB 1GiB; do
        run -0 --separate-stderr env TMPDIR=spare petal build --scheme static --memory $limit \
            --threads 1 --force -o out/f.petal keys keys
        is "$output$stderr" ""
        cmp s.petal out/f.petal
    done
    seq 300000 | petal build --scheme static --memory 1MiB --threads 2 -p 1% -o - >piped.petal
    cmp s.petal piped.petal
    is "$(ls -A spare; ls -A out)" f.petal
}

@test "the temporary file of --memory is in TMPDIR, or otherwise next to the output" {
    seq 100 >keys
    mkdir out
    run -2 --separate-stderr env TMPDIR=no/such petal build --scheme static --memory 1MiB \
        --threads 1 -o out/f.petal keys
    contains "$stderr" "petal: cannot create a temporary file in no/such: No such file or directory; set TMPDIR"
    is "$(wc -l <<<"$stderr")" 1
    [ ! -e out/f.petal ]
    env -u TMPDIR petal build --scheme static --memory 1MiB --threads 1 -o out/f.petal keys
    is "$(petal check -c out/f.petal keys)" 100
    is "$(ls -A out)" f.petal
    env TMPDIR= petal build --scheme static --memory 1MiB --threads 1 -o g.petal keys
    cmp g.petal out/f.petal
    refuses "--memory: 1000 bytes of memory are too few; the least is 65536 per thread" \
        petal build --scheme static --memory 1000 --threads 1 -o c.petal keys
    [ ! -e c.petal ]
}

@test "if a build with --memory is killed, it leaves no file" {
    mkdir spare out
    mkfifo pipe
    TMPDIR=spare petal build --scheme static --memory 64KiB --threads 1 -o out/f.petal pipe 3>&- &
    pid=$!
    exec 9>pipe
    seq 200000 >&9
    is "$(ls -A spare; ls -A out)" ""
    kill -KILL $pid
    wait $pid || true
    exec 9>&-
    is "$(ls -A spare; ls -A out)" ""
}

@test "if the disk is full for the temporary file, build prints one line and leaves the old file" {
    seq 300000 >keys
    seq 10 >few
    petal build --scheme static -o f.petal few 2>remark
    cp f.petal before.petal
    mkdir spare
    export TMPDIR=$PWD/spare
    run -2 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 1000; exec petal build --scheme static \
        --memory 64KiB --threads 1 --force -o f.petal keys"
    contains "$stderr" "petal: cannot write a temporary file in $TMPDIR: File too large; set TMPDIR"
    is "$(wc -l <<<"$stderr")" 1
    cmp f.petal before.petal
    is "$(ls -A spare)" ""
}
