#!/usr/bin/env bats
# damage.bats - the tool never answers from damaged bits. If a file is damaged, the tool reports an
# error that names the file and the position of the damage, and never reports a key as "certainly
# not" in the filter.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    make_urls
    sort -u urls.txt | head -29619 >members.txt
    petal build -o f.petal members.txt
    payload=$(($(stat -c %s f.petal) - $(petal info --json f.petal | field bytes)))
}

# zero FILE OFFSET BYTES
zero() {
    dd if=/dev/zero of="$1" bs=1 seek="$2" count="$3" conv=notrunc 2>/dev/null
}

# Prints the offset of the first nonzero byte in the payload.
some_byte() {
    od -An -v -tu1 -w1 -j "$payload" f.petal | awk -v at="$payload" '$1 { print at + NR - 1; exit }'
}

@test "with one zeroed byte, check finds every key or says where the damage is; without the checks, keys are missed" {
    zero f.petal "$(some_byte)" 1
    run petal check --no-verify -c f.petal members.txt
    [ "$output" -lt 29619 ] || fail "no key is missed: $output"
    refuses "f.petal: damaged at byte $payload (checksum of block 0); restore a copy or rebuild" petal check f.petal members.txt
    refuses "--no-verify" petal check -v f.petal members.txt
    refuses "damaged at byte $payload" petal check -c f.petal members.txt
    refuses "damaged at byte $payload" petal check -q f.petal members.txt
    refuses "damaged at byte $payload" petal check --explain f.petal -e "$(head -n 1 members.txt)"
}

@test "with 8 KiB of zeros, too, check finds every key or reports damage, for rows and single keys, with one thread and several" {
    zero f.petal $((payload + 4096)) 8192
    run petal check --no-verify -c f.petal members.txt
    [ "$output" -lt 25000 ] || fail "8 KiB of the bits are gone, and only $((29619 - output)) keys with them"
    for threads in 1 4; do
        refuses "damaged at byte $payload" petal check --threads "$threads" f.petal members.txt
        sed 's/.*/&\tx/' members.txt >rows.txt
        refuses "damaged at byte $payload" petal check --threads "$threads" -k 1 -t TAB f.petal rows.txt
    done
}

@test "check -v prints no member, no matter which byte was changed" {
    cp f.petal sound.petal
    local size at status
    size=$(stat -c %s f.petal)
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        cp sound.petal f.petal
        at=$((i * 104729 % size))
        printf '\125' | dd of=f.petal bs=1 seek="$at" conv=notrunc 2>/dev/null
        status=0
        petal check -v f.petal members.txt >out 2>err || status=$?
        [ ! -s out ] || fail "byte $at: $(wc -l <out) members are certainly not in"
        cmp -s f.petal sound.petal && wanted=1 || wanted=2
        is "$status" "$wanted"
    done
}

@test "if one block is damaged, keys in the other blocks are still found" {
    seq 400000 >many.txt
    petal build -o many.petal many.txt
    local begin
    begin=$(($(stat -c %s many.petal) - $(petal info --json many.petal | field bytes)))
    zero many.petal $((begin + 3 * 65536 + 100)) 4096
    local found=0 refused=0 status
    for key in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        status=0
        petal check -q many.petal -e "$key" 2>err || status=$?
        case $status in
        0) found=$((found + 1)) ;;
        2) refused=$((refused + 1)) && contains "$(cat err)" "damaged at byte $((begin + 3 * 65536)) (checksum of block 3)" ;;
        *) fail "key $key: status $status" ;;
        esac
    done
    [ "$found" -gt 10 ] && [ "$refused" -ge 1 ] || fail "$found found, $refused refused"
}

@test "info, compare, merge, convert, diff and verify refuse a damaged file" {
    cp f.petal sound.petal
    zero f.petal $((payload + 4096)) 8192
    run -1 --separate-stderr petal info f.petal
    is "$stderr" "petal: f.petal: damaged at byte $payload (checksum of block 0); restore a copy or rebuild from the keys"
    contains "$output" "petal 1, header intact, contents damaged"
    [[ $output != *"false positives"*now* ]] || fail "a rate of damaged bits: $output"
    run -1 --separate-stderr petal info --json f.petal
    is "$(field checksums <<<"$output")" differ
    is "$(field estimated_rate <<<"$output")" null
    run -0 petal info --no-verify f.petal
    contains "$output" "petal 1, header intact (contents: petal verify f.petal)"
    refuses "f.petal: damaged" petal compare f.petal sound.petal
    refuses "f.petal: damaged" petal compare sound.petal f.petal
    run -0 petal compare --no-verify f.petal sound.petal
    refuses "f.petal: damaged" petal merge -o new.petal sound.petal f.petal
    refuses "f.petal: damaged" petal intersect -o new.petal f.petal sound.petal
    refuses "f.petal: damaged" petal convert f.petal --to petal new.petal
    refuses "damaged" petal diff -o new.patch sound.petal f.petal
    finds "f.petal: damaged" petal verify f.petal
    refuses "f.petal: damaged" petal bench --seconds 1 f.petal
    refuses "damaged" petal seen -f f.petal members.txt
    refuses "damaged" petal add f.petal members.txt
    [ ! -e new.petal ] && [ ! -e new.patch ]
}

@test "verify --recover does not change a damaged file; with --force it says what differs, warns and seals the file" {
    seq 400000 >many.txt
    petal build -o many.petal many.txt
    local begin
    begin=$(($(stat -c %s many.petal) - $(petal info --json many.petal | field bytes)))
    zero many.petal $((begin + 65536 + 100)) 4096
    zero many.petal $((begin + 3 * 65536 + 100)) 4096
    cp many.petal before.petal
    finds "damaged at byte $((begin + 65536))" petal verify --recover many.petal
    cmp many.petal before.petal
    refuses "--force goes with --recover" petal verify --force many.petal
    run -0 --separate-stderr petal verify --recover --force many.petal
    contains "$stderr" "many.petal: 2 of 8 blocks differ from their last checksums"
    contains "$stderr" "damage and additions look alike"
    contains "$output" "many.petal: intact"
    [ "$(petal check -c many.petal many.txt)" -lt 400000 ] || fail "what was lost came back"
    petal add many.petal many.txt
    is "$(petal check -c many.petal many.txt)" 400000
    petal verify --recover --force many.petal # verify --recover doesn't change an undamaged file
}

@test "info reports the state of the checksums: match, none, not compared, changing, old" {
    is "$(petal info --json f.petal | field checksums)" match
    is "$(petal info --json - <f.petal | field checksums)" match
    is "$(petal info --json --no-verify f.petal | field checksums)" "not compared"
    petal build --to guava -n 100 -o g.bin -e x
    is "$(petal info --json --from guava g.bin | field checksums)" none
}
