#!/usr/bin/env bats
# patch.bats - petal diff and petal patch: the result equals NEW byte for byte. If anything goes
# wrong, FILE is unchanged, and one line gives the reason.
load helper

BUSY="busy: another process is changing it; try again when it has finished"

id_of() { petal info --json "$@" | field content_id; }

# Creates old.petal, new.petal with 1 % more keys, and the patch p. Adding keys in place does not
# write the same bytes as saving, so new.petal is saved again.
make_patch() {
    seq 100000 | petal build -n 110000 -o old.petal
    cp old.petal new.petal
    seq 100001 101000 | petal add new.petal
    petal convert --force new.petal new.petal
    petal diff old.petal new.petal -o p
}

@test "a patch turns the old file into the new one, as another file and in place" {
    make_patch
    cp old.petal copy
    petal patch old.petal p -o made.petal
    cmp made.petal new.petal
    cmp old.petal copy
    run -0 --separate-stderr petal patch old.petal p
    is "$output$stderr" ""
    cmp old.petal new.petal
    petal verify old.petal
    petal patch copy - <p
    cmp copy new.petal
    is "$(ls | paste -sd' ')" "copy made.petal new.petal old.petal p"
}

@test "a patch of 1 % more keys is less than 5 % of the file, and --verbose prints the share" {
    make_patch
    [ $(($(wc -c <p) * 20)) -lt "$(wc -c <new.petal)" ]
    run -0 --separate-stderr petal diff --verbose --force old.petal new.petal -o p
    contains "$stderr" "petal: p: $(wc -c <p | sed 's/\(.*\)\(...\)$/\1,\2/') bytes, "
    contains "$stderr" " % of the "
    run -0 --separate-stderr petal patch --verbose old.petal p
    contains "$stderr" "petal: old.petal: 101,000 keys added"
}

@test "every kind of filter can be patched, and so can files of other libraries" {
    for kind in "" "--scheme classic" "--scheme counting" --grow "--to guava" "--to dcso" \
        "--to redisbloom" "--to js-tutorial"; do
        rm -f ./*
        petal create -n 500 $kind -o old
        seq 300 | petal add old
        cp old new
        seq 301 1000 | petal add new
        cp new whole
        petal diff old new -o p
        petal patch old p
        is "$(id_of old)" "$(id_of whole)"
        is "$(petal info --json old | field items)" "$(petal info --json whole | field items)"
        is "$(petal info --json old | field format)" "$(petal info --json whole | field format)"
        is "$(seq 1000 | petal check -c old)" 1000
    done 2>remarks
    ! grep -v "looks like" remarks
}

@test "windows: generations that came and went are patched" {
    petal create --window 1000 -o keys.petal
    petal create --window 7d -n 1000 -o time.petal
    for day in 1 2 3 4 5 6 7 8 9; do
        seq $((day * 100)) $((day * 100 + 99)) >keys
        petal add keys.petal keys
        petal add --now $((day * 86400)) time.petal keys
        cp keys.petal keys-$day
        cp time.petal time-$day
    done
    for kind in keys time; do
        for day in 2 3 4 5 6 7 8 9; do
            petal diff $kind-$((day - 1)) $kind-$day -o p --force
            petal patch $kind-$((day - 1)) p -o made
            cmp made $kind-$day
            rm made
        done
    done
}

@test "keyed filters need their secret, and the patch does not contain it" {
    printf 'sixteen bytes...' >secret
    printf 'sixteen bytes,,,' >other
    seq 1000 | petal build -n 2000 --secret-file secret -o old.petal
    cp old.petal new.petal
    seq 1001 1100 | petal add --secret-file secret new.petal
    refuses "old.petal: needs the secret with id" petal diff old.petal new.petal -o p
    petal diff --secret-file secret old.petal new.petal -o p
    ! grep -qF 'sixteen bytes' p
    refuses "old.petal: needs the secret with id" petal patch old.petal p
    refuses "old.petal: needs the secret with id" petal patch --secret-file other old.petal p
    petal patch --secret-file secret old.petal p
    is "$(seq 1100 | petal check -c --secret-file secret old.petal)" 1100
    seq 1000 | petal build -n 2000 --secret-file other -o otherwise.petal
    refuses "otherwise.petal: needs the secret" petal diff --secret-file secret old.petal otherwise.petal -o q
    [ ! -e q ]
}

@test "a patch for another base is refused, and so is the same patch a second time" {
    make_patch
    cp new.petal copy
    refuses "p: the patch was applied already: content id $(id_of new.petal) is its result" petal patch new.petal p
    cmp new.petal copy
    petal add old.petal <<<other
    cp old.petal copy
    refuses "p: the patch is for content id " petal patch old.petal p
    refuses ", the filter has $(id_of old.petal); fetch the whole file" petal patch old.petal p -o made
    cmp old.petal copy
    [ ! -e made ]
}

@test "a patch that is cut off or changed at any byte is refused, and nothing changes" {
    petal build -n 20 -o old.petal <<<a
    cp old.petal new.petal
    seq 20 | petal add new.petal
    petal diff old.petal new.petal -o p
    cp old.petal copy
    size=$(wc -c <p)
    step=$(nightly_step 7)
    for ((at = 0; at < size; at += step)); do
        head -c $at p >bad
        run -2 --separate-stderr petal patch old.petal bad
        is "${#stderr_lines[@]}$output" 1
        case $at in
        [0-7]) ;; # the magic number is incomplete, so the message differs
        *) is "$stderr" "petal: bad: the patch is truncated at byte $at; fetch it again, or the whole file" ;;
        esac
        cp p bad
        flip bad $at 10
        run -2 --separate-stderr petal patch old.petal bad
        is "${#stderr_lines[@]}$output" 1
        # If the flipped bit makes a size too large, the patch appears truncated.
        [[ $at -lt 8 || $stderr =~ ^"petal: bad: the patch is "(damaged|truncated)" at byte "[0-9]+ ]] ||
            fail "byte $at: $stderr"
    done
    { cat p; printf x; } >bad
    refuses "bad: the patch is damaged at byte $size (bytes after the end)" petal patch old.petal bad
    cmp old.petal copy
    is "$(ls | paste -sd' ')" "bad copy new.petal old.petal p"
    petal patch old.petal p
}

@test "files that are not patches, or not filters, are refused" {
    make_patch
    echo text >text
    : >empty
    refuses "text: not a petal patch" petal patch old.petal text
    refuses "empty: not a petal patch" petal patch old.petal empty
    refuses "new.petal: not a petal patch" petal patch old.petal new.petal
    refuses "p: not a petal file" petal patch p p -o made
    refuses "p: not a petal file" petal diff p old.petal -o made
    refuses "gone: cannot open it" petal patch old.petal gone
    refuses "gone: cannot open" petal patch gone p
    head -c 400000 /dev/zero >zeros
    refuses "zeros: has more than the limit of 300000 bytes (--memory-limit)" petal patch --memory-limit 300000 old.petal zeros -o made
    [ ! -e made ]
}

@test "missing options and files that would be overwritten are reported" {
    make_patch
    cp p copy
    refuses "diff: needs -o PATCH" petal diff old.petal new.petal
    refuses "diff: needs two filters" petal diff old.petal -o q
    refuses "patch: needs FILE and PATCH" petal patch old.petal
    refuses "p: exists" petal diff new.petal old.petal -o p
    cmp p copy
    refuses "old.petal: is read from as well" petal diff --force old.petal new.petal -o old.petal
    refuses "new.petal: is read from as well" petal diff --force old.petal new.petal -o ./new.petal
    refuses "p: is read from as well" petal patch --force old.petal p -o p
    refuses "new.petal: exists" petal patch old.petal p -o new.petal
    cp old.petal same.petal
    petal patch same.petal p -o same.petal # in place
    cmp same.petal new.petal
    ln -s old.petal link.petal
    petal patch link.petal p
    [ -L link.petal ]
    cmp old.petal new.petal
    petal patch --force same.petal p -o p2 && fail "applied twice"
    petal diff new.petal new.petal -o q
    petal patch new.petal q
    cmp new.petal old.petal
}

@test "filters with different parameters have no patch, and the message names the parameter" {
    petal build -n 100 -o a.petal <<<a
    petal build -n 200 -o b.petal <<<a
    petal build -n 100 --seed 1 -o c.petal <<<a
    petal build -n 100 --scheme classic -o d.petal <<<a
    petal create -n 100 --grow -o e.petal
    for other in b:bits c:seed d:scheme e:grow; do
        refuses "${other%:*}.petal: cannot make a patch from a.petal: they differ in " petal diff a.petal ${other%:*}.petal -o p
        contains "$stderr" "${other#*:}"
        [ ! -e p ]
    done
}

# start COMMAND... : runs petal in the background, reading from the fifo `in` (descriptor 4). Sets
# $running to its process id.
start() {
    [ -p in ] || mkfifo in
    exec 4<>in
    "$PETAL" "$@" <in >out 2>message 3>&- 4>&- &
    running=$!
}

finish() {
    exec 4>&-
    local status=0
    wait $running || status=$?
    return $status
}

@test "a file that is being changed can't be patched or read for a patch; a dirty one is reported as dirty" {
    make_patch
    cp old.petal f.petal
    start add f.petal
    seq 100 >&4
    wait_until is_being_changed f.petal
    is_busy "f.petal: $BUSY" petal patch f.petal p
    is_busy "f.petal: $BUSY" petal diff f.petal new.petal -o q
    is_busy "f.petal: $BUSY" petal diff old.petal f.petal -o q
    is_busy "f.petal: $BUSY" petal patch old.petal p --force -o f.petal
    kill -9 $running
    finish || true
    refuses "f.petal: dirty" petal patch f.petal p
    refuses "f.petal: dirty" petal diff f.petal new.petal -o q
    refuses "f.petal: dirty" petal diff old.petal f.petal -o q
    [ ! -e q ]
}

@test "while patch changes the file, no other command changes it" {
    make_patch
    start patch old.petal -
    is_locked() {
        [ -r /proc/locks ] || skip "no /proc/locks"
        grep -q "OFDLCK.*:$(stat -c %i "$1") " /proc/locks
    }
    wait_until is_locked old.petal
    is_busy "old.petal: $BUSY" petal add old.petal <<<x
    is_busy "old.petal: $BUSY" petal patch old.petal p
    cat p >&4
    finish
    cmp old.petal new.petal
}

@test "a damaged filter can't be the base of a patch or be patched" {
    make_patch
    flip new.petal 5000 01
    refuses "new.petal: damaged at byte" petal diff old.petal new.petal -o q
    flip old.petal 5000 01
    cp old.petal copy
    refuses "old.petal: damaged at byte" petal patch old.petal p
    cmp old.petal copy
    [ ! -e q ]
}

@test "a full disk leaves the old file and no temporary file" {
    make_patch
    cp old.petal copy
    refuses "p2: cannot write it: File too large" bash -c "ulimit -f 1; exec '$PETAL' diff old.petal new.petal -o p2"
    refuses "the old file is unchanged" bash -c "ulimit -f 4; exec '$PETAL' patch old.petal p"
    cmp old.petal copy
    is "$(ls | paste -sd' ')" "copy new.petal old.petal p"
}

@test "a patched file keeps its mode and owner" {
    make_patch
    chmod 640 old.petal
    petal patch old.petal p
    is "$(stat -c %a old.petal)" 640
}

@test "the patches of a chain can be applied one after another" {
    petal create -n 5000 -o 0.petal
    for i in 1 2 3 4 5; do
        cp $((i - 1)).petal $i.petal
        seq ${i}000 ${i}500 | petal add $i.petal
        petal diff $((i - 1)).petal $i.petal -o $i.patch
    done
    cp 0.petal f.petal
    for i in 1 2 3 4 5; do petal patch f.petal $i.patch; done
    is "$(id_of f.petal)" "$(id_of 5.petal)"
    refuses "for content id" petal patch f.petal 2.patch
    petal diff 0.petal 5.petal -o all.patch
    petal patch 0.petal all.patch
    is "$(id_of 0.petal)" "$(id_of 5.petal)"
}
