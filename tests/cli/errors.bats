#!/usr/bin/env bats
# errors.bats - for bad input, the tool prints one clear line that says what is wrong, where, and
# what to do, and loses nothing.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 1000 | petal build -o f.petal
    cp f.petal saved
}

@test "a missing file, a folder, a device and an empty file are not filters" {
    for command in check info add verify; do
        refuses "none: cannot open it: No such file or directory; petal create or petal build makes one" petal $command none </dev/null
        refuses ".: cannot open it: Is a directory" petal $command . </dev/null
    done
    refuses "/dev/null: not a regular file" petal info /dev/null
    : >empty
    refuses "empty: not a filter (empty)" petal info empty
    mkfifo pipe
    refuses "pipe: not a regular file" petal info pipe
}

@test "if a file can't be read for lack of permission, the message says so" {
    chmod 000 f.petal
    echo key >keys
    chmod 000 keys
    drop=
    if [ "$(id -u)" -eq 0 ]; then
        drop='setpriv --bounding-set=-all --inh-caps=-all'
        $drop true 2>/dev/null || skip "this machine's root reads everything, and cannot give that up"
    fi
    refuses "f.petal: cannot open it: Permission denied" $drop "$PETAL" info f.petal
    refuses "keys: cannot open it: Permission denied" $drop "$PETAL" build -o x.petal keys
}

@test "a text file is not a filter, and the message says how to build one from it" {
    echo 'some words' >notes.txt
    refuses "petal: notes.txt: not a filter (text, from byte 0); to make one: petal build -o notes.petal notes.txt" petal info notes.txt
    echo 'some words' >notes
    refuses "to make one: petal build -o notes.petal notes" petal check notes notes
    gzip notes.txt
    refuses "notes.txt.gz: not a filter (compressed by gzip, from byte 0); unpack it with gzip -dc" petal info notes.txt.gz
    head -c 2000 /dev/urandom >random
    refuses "random: not a" petal info random
}

@test "a filter changed by a text-mode transfer is reported as damaged" {
    sed 's/\r$//' f.petal >mangled
    finds "mangled: damaged at byte 4 (line ends were converted" petal info mangled
}

@test "a file of a newer version is refused, and the message names both versions" {
    for slot in 0 512; do flip f.petal $((slot + 8)) 02; done
    refuses "petal: f.petal: written by a newer petal (format 3; this one reads 1); update petal" petal info f.petal
}

@test "damage and truncation are reported with the byte and what to do" {
    flip f.petal 1600 01
    finds "petal: f.petal: damaged at byte 1088 (checksum of block 0); restore a copy or rebuild from the keys" petal verify f.petal
    head -c 1500 saved >short
    size=$(stat -c %s saved)
    finds "petal: short: truncated (header promises $size bytes, file has 1500); copy it again" petal info short
    cat saved saved >twice
    finds "petal: twice: damaged at byte $size (bytes after the end)" petal info twice
}

@test "a keyed filter without its secret gives no answers" {
    echo 000102030405060708090a0b0c0d0e0f >secret
    echo 100102030405060708090a0b0c0d0e0f >wrong
    echo key | petal build -o k.petal --secret-file secret
    id=$(petal info --secret-file secret --json k.petal | field secret_id)
    for command in check verify; do
        refuses "petal: k.petal: needs the secret with id $id, and none was given; pass --secret-file" petal $command k.petal </dev/null
    done
    for command in check info verify; do
        refuses "petal: k.petal: needs the secret with id $id, the one given is" petal $command --secret-file wrong k.petal </dev/null
    done
    refuses "is not keyed, but a secret was given" petal info --secret-file secret f.petal
    is "$(petal check --secret-file secret k.petal -e key)" key
}

@test "a secret must be 16 bytes or 32 hex digits" {
    printf '0001020304050607 8090a0b0c0d0e0f' >bad1
    printf 'short' >bad2
    head -c 17 /dev/zero >bad3
    head -c 100 /dev/zero >bad4
    : >bad5
    for bad in bad1 bad2 bad3 bad5; do
        refuses "$bad: not a secret; expected 16 bytes or 32 hex digits" petal create -o x -n 10 --secret-file $bad
    done
    refuses "bad4: has more than" petal create -o x -n 10 --secret-file bad4
    printf '000102030405060708090a0b0c0d0e0f' | tee hex | perl -pe '$_ = pack "H*", $_' >raw
    printf '000102030405060708090A0B0C0D0E0F\r\n' >line
    petal create -o x -n 10 --secret-file hex
    for same in raw line; do
        petal create -o y -n 10 --secret-file $same --force
        cmp x y
    done
    ! grep -qF "$(cat raw | tr -d '\0')" x
}

@test "an output in a missing folder is refused before the input is read" {
    mkfifo never
    for command in 'create -n 10' 'build never' 'merge f.petal' 'intersect f.petal'; do
        refuses "no/x.petal: cannot write a file in its folder: No such file or directory" petal $command -o no/x.petal
        refuses ".: is a directory; name a file in it" petal $command -o .
    done
    refuses "-: is not standard output here; name a file" petal seen -f - /dev/null
}

@test "an output that is not a regular file is refused, and no temporary file is left" {
    run -2 --separate-stderr petal create --force -n 10 -o /dev/null
    is "${#stderr_lines[@]}" 1
    [ -c /dev/null ]
}

@test "if a file size limit is hit, the old file is unchanged" {
    seq 200000 >keys
    refuses "f.petal: cannot write: File too large; the old file is unchanged" \
        bash -c "ulimit -f 16; exec '$PETAL' build --force -o f.petal keys"
    cmp f.petal saved
    refuses "new.petal: cannot write: File too large; nothing was written" bash -c "ulimit -f 16; exec '$PETAL' build -o new.petal keys"
    refuses "chart.svg: cannot write it: File too large" bash -c "ulimit -f 1; exec '$PETAL' plan -n 10 --chart chart.svg >/dev/null"
    is "$(ls)" $'f.petal\nkeys\nsaved'
}

@test "if the disk is full, the old file is unchanged, and adding in place is refused before it starts" {
    if [ "$(id -u)" -eq 0 ]; then enter='unshare -m'; else enter='unshare -rm'; fi
    $enter true 2>/dev/null || skip "this machine lets no test mount a file system"
    mkdir disk
    cat >on-full-disk <<'END'
mount -t tmpfs -o size=256k tmpfs disk || exit 77
cp saved disk/f.petal
"$PETAL" create -o disk/sparse.petal --bits 8Mi --hashes 4 || exit 1
"$PETAL" build --force -o disk/f.petal keys && exit 1
cmp disk/f.petal saved || exit 1
before=$(cksum disk/sparse.petal)
"$PETAL" add disk/sparse.petal keys && exit 1
[ "$(cksum disk/sparse.petal)" = "$before" ] || exit 1
seq 10 | "$PETAL" seen -f disk/seen.petal -n 1M && exit 1
ls disk
END
    seq 800000 >keys
    PETAL="$PETAL" run --separate-stderr $enter bash on-full-disk
    [ "$status" -ne 77 ] || skip "this machine lets no test mount a file system"
    is "$status" 0
    is "$output" "$(seq 10)"$'\nf.petal\nseen.petal\nsparse.petal'
    contains "$stderr" "petal: disk/f.petal: cannot write: No space left on device; the old file is unchanged"
    contains "$stderr" "petal: disk/sparse.petal: cannot allocate its holes: No space left on device"
    contains "$stderr" "petal: disk/seen.petal: cannot write: No space left on device; the old file is unchanged"
}

@test "impossible sizes are refused without trying" {
    for options in '--bits 200Ti --hashes 3' '-n 100000000000000 -p 1e-5'; do
        run -2 --separate-stderr petal create -o x.petal $options
        is "$(grep -c '^petal: ' <<<"$stderr")" 1 # ignores a sanitizer's lines
    done
    [ ! -e x.petal ]
}

@test "names with control characters are printed safely" {
    refuses 'a?petal: b?[31m: cannot open it' petal info $'a\npetal: b\x1b[31m'
}

@test "unknown commands and options are named, with the most similar one" {
    refuses "no command chekc, did you mean check? See petal help" petal chekc
    refuses "no command frobnicate; see petal help" petal frobnicate
    refuses "no command frobnicate; see petal help" petal help frobnicate
    refuses "build: no option --outptu, did you mean --output?" petal build --outptu x
}

@test "if --from names another library's format, a petal file is still called a petal file" {
    for command in "info f.petal" "check f.petal -e 1" "convert f.petal g" "add f.petal -e 1"; do
        refuses "petal: f.petal: is a petal file, not one of guava; leave out --from" petal $command --from guava
    done
    refuses "petal: standard input: is a petal file, not one of dcso; leave out --from" petal check --from dcso - -e 1 <f.petal
    cmp f.petal saved
}

@test "if --json makes no sense, the message says what was probably meant" {
    refuses "check: no option --json; if keys are in lines of JSON, pass --jsonl PATH; see petal help check" petal check --json f.petal
    refuses "seen: no option --json; if keys are in lines of JSON, pass --jsonl PATH" petal seen --json .id
    refuses "merge: no option --json; petal info --json describes a filter" petal merge --json
    refuses "check: no option --jsn, did you mean --jsonl? See petal help check" petal check --jsn f.petal
    refuses "info: no option --jsn, did you mean --json? See petal help info" petal info --jsn f.petal
}
