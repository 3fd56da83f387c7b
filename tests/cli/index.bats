#!/usr/bin/env bats
# index.bats - petal which reports the same filters for an index as for the separate filter files,
# and petal index creates an index from filters, from keys, or from other indexes.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    for i in 1 2 3 4 5 6 7 8 9; do
        seq $((i * 100)) $((i * 100 + 20 * i)) >"k$i"
        petal build -p 1% -o "f$i.petal" "k$i"
    done
    seq 1 5000 >queries
}

@test "an index gives the answers of its filters, including false positives, for every kind of query" {
    petal index -o all.petals f?.petal
    for options in '' -c -l '--min 0.1%' --json '--json -c' '--kmers 2' '--kmers 2 -l' '--kmers 3 -c'; do
        # shellcheck disable=SC2086 # words
        petal which $options f?.petal -- queries >alone || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        petal which $options all.petals -- queries >together || [ $? -eq 1 ]
        cmp alone together
    done
    [ "$(petal which all.petals -- queries | wc -l)" -gt 900 ]
}

@test "indexes and filters can be mixed, in the order of the arguments" {
    petal index -o some.petals f2.petal f3.petal f4.petal
    petal which f1.petal f2.petal f3.petal f4.petal f5.petal f2.petal -- queries >alone
    petal which f1.petal some.petals f5.petal f2.petal -- queries >together
    cmp alone together
    petal which --kmers 3 f1.petal f2.petal f3.petal f4.petal f5.petal -- queries >alone
    petal which --kmers 3 f1.petal some.petals f5.petal -- queries >together
    cmp alone together
    run -0 petal which some.petals some.petals -e 210
    is "$output" $'210\tf2.petal\tf2.petal'
}

@test "with --keys, each file becomes a filter that misses none of its keys; gzip and words work as in other commands" {
    gzip k5
    petal index -o keys.petals --keys -z -p 0.1% k1 k2 k3 k4 k5.gz k6
    run -0 --separate-stderr petal which keys.petals -e 512 -e 620 -e 1
    is "$output" $'512\tk5.gz\n620\tk6'
    printf 'the quick fox\nsaw a dog\n' >text
    petal index -o words.petals --keys --words text k1
    run -0 petal which words.petals -e dog
    is "$output" $'dog\ttext'
    run -1 petal which words.petals -e 'saw a dog'
    find . -name 'k?' | sort >list
    petal index -o listed.petals --keys @list
    [ "$(petal info --json listed.petals | wc -l)" -eq 8 ]
}

@test "a new index can be made from an old one and more filters, and filters can be dropped by name" {
    petal index -o a.petals f1.petal f2.petal
    petal index --force -o a.petals a.petals f3.petal
    petal index -o b.petals f1.petal f2.petal f3.petal
    cmp a.petals b.petals
    petal index -o c.petals a.petals --drop f2.petal
    petal index -o d.petals f1.petal f3.petal
    cmp c.petals d.petals
    run -2 petal index -o e.petals a.petals --drop nothing
    is "$output" "petal: --drop: no index has a filter of that name"
    [ ! -e e.petals ]
}

@test "info and verify describe an index; damage is status 1" {
    petal index -o a.petals f1.petal f2.petal
    run -0 petal info a.petals
    [[ $output == $'a.petals\nindex             2 filters of '*$'\n  f1.petal: 21 keys, '* ]]
    run -0 petal verify a.petals
    is "$output" "a.petals: intact, an index of 2 filters"
    run -0 petal verify --json a.petals
    is "$output" '{"file":"a.petals","intact":true}'
    printf x | dd of=a.petals bs=1 seek=4100 conv=notrunc 2>/dev/null
    run -1 petal verify a.petals
    run -2 --separate-stderr petal which a.petals -- queries
    is "$output" ""
    [[ $stderr == *"damaged: the block at byte 4096 "* ]]
    head -c 4000 a.petals >cut.petals
    run -1 petal verify cut.petals
    [[ $output == *"truncated"* ]]
    run -2 petal which cut.petals -e 1
}

@test "errors name the file and what to do, and nothing is written" {
    run -2 petal index f1.petal
    run -2 petal index -o x.petals
    run -2 petal index -o x.petals f1.petal -p 1%
    run -2 petal index -o x.petals --keys --fold k1
    run -2 petal index -o x.petals f1.petal missing.petal
    [[ $output == *"missing.petal: "* ]]
    run -2 petal index -o x.petals f1.petal f1.petal
    is "$output" "petal: f1.petal: the index already has a filter of this name"
    petal build --scheme counting -o counting.petal k1
    run -2 petal index -o x.petals counting.petal
    [[ $output == "petal: counting.petal: "*"drop the counts first" ]]
    run -2 petal index -o x.petals --keys k1 missing
    printf '1\n' | petal build --key-type i64 -o i64.petal
    run -2 petal index -o x.petals f1.petal i64.petal
    [[ $output == "petal: i64.petal: its keys are of type "* ]]
    [ ! -e x.petals ]
    echo precious >x.petals
    run -2 petal index -o x.petals f1.petal
    is "$(cat x.petals)" precious
    petal index --force -o x.petals f1.petal
    petal verify x.petals
}

@test "keyed filters need their secret" {
    printf 0123456789abcdef >secret
    petal index -o keyed.petals --keys --secret-file secret k1 k2
    run -2 petal which keyed.petals -e 110
    [[ $output == *"needs the secret with id "* ]]
    run -0 petal which --secret-file secret keyed.petals -e 110
    is "$output" $'110\tk1'
    run -0 petal which --secret-file secret keyed.petals f1.petal -e 110
    is "$output" $'110\tk1\tf1.petal'
}

@test "with --verbose, one line has sizes and rates" {
    run -0 petal index --verbose -o a.petals f1.petal f2.petal
    [[ $output == "petal: a.petals: 2 filters of "*" bytes (alone they have "*"), false positives from "* ]]
}

sum() { awk '{ total += $1 } END { print total }'; }

# Uses the documentation of installed Debian packages. The number of documents depends on the
# machine, so the test prints it.
@test "an index of the words in 1,000 Debian documents gives the answers of its filters, and misses no word" {
    needs python3
    find -L /usr/share/doc -type f -size -200k \
        \( -name copyright -o -name 'changelog*' -o -name 'README*' -o -name 'NEWS*' \) 2>/dev/null |
        sort | grep -v '[[:cntrl:]]' | head -n $((1000 / $(nightly_step 25))) >list
    count=$(wc -l <list)
    [ "$count" -ge 20 ] || skip "this machine has $count documents in /usr/share/doc"
    echo "# $count documents" >&3
    i=1000
    while read -r file; do
        i=$((i + 1))
        gzip -dcf "$file" | tr '\n' '\0' | python3 "$PETAL_ROOT/tests/cli/lib/row_keys.py" WORDS 1 |
            sort -zu >"words.$i"
        petal build -0 -p 0.1% -o "alone.$i.petal" "words.$i"
    done <list
    sort -zum words.* | tr '\0' '\n' | awk 'NR % 7 == 0' | tr '\n' '\0' >some
    seq -f 'absent%g' 5000 | tr '\n' '\0' | cat - some >queries
    printf '%s\n' alone.*.petal >filters

    # an index created from the filters gives byte-for-byte the same answers as the filters
    petal index -o copied.petals @filters
    petal which -0 @filters -- queries >expected
    petal which -0 copied.petals -- queries | cmp - expected

    # an index created from the documents finds every word in every document
    petal index -o keys.petals --keys --words -z -p 0.1% @list 2>/dev/null
    i=1000
    while read -r file; do
        i=$((i + 1))
        petal which -0 -c keys.petals -- "words.$i" >counts
        found=$(tr '\0' '\n' <counts | awk -F '\t' -v file="$file" '$1 == file { print $2 }')
        is "$found" "$(tr -dc '\0' <"words.$i" | wc -c)"
    done <list

    # the index is at most 15 % larger than the filters
    planned=$(xargs "$PETAL" info --json <filters | field bytes | sum)
    [ "$(petal info --json keys.petals | field bytes | sum)" -le $((planned * 115 / 100)) ]
    [ "$count" -lt 1000 ] || [ "$(wc -c <keys.petals)" -le $((planned * 115 / 100)) ]
}

@test "an output that is also read must be an index, since it is locked" {
    run petal index --force -o f1.petal f1.petal f2.petal
    [ "$status" -eq 2 ]
    is "$output" "petal: f1.petal: can't be read as an index, so -o must name another file"
    petal verify f1.petal
    petal index --force --no-lock -o f1.petal f1.petal f2.petal
    petal which -c f1.petal -- queries | grep -q f1.petal
}
