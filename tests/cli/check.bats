#!/usr/bin/env bats
# check.bats - petal check behaves like grep when used in a pipeline.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    printf 'one\ntwo\nthree\n' | petal build -p 1e-6 -o f.petal
    printf 'one\nfour\nthree\nfive\n' >lines
}

@test "lines in the set are printed in their order, and the status is 0" {
    run -0 --separate-stderr petal check f.petal lines
    is "$output" $'one\nthree'
    is "$stderr" ""
}

@test "if no line is selected, nothing is printed and the status is 1" {
    run -1 --separate-stderr petal check f.petal -e four
    is "$output$stderr" ""
    run -1 petal check -v f.petal -e one
    run -1 petal check f.petal /dev/null
}

@test "after an error the status is 2, even if lines were selected" {
    run -2 --separate-stderr petal check f.petal missing lines
    is "$output" $'one\nthree'
    is "$stderr" "petal: missing: cannot open it: No such file or directory; if it is a key, pass it with -e"
    run -2 --separate-stderr petal check f.petal lines . lines
    is "$output" $'one\nthree\none\nthree'
    is "$stderr" "petal: .: is a directory; name the files in it"
}

@test "-q prints nothing and stops at the first selected line, even after an error" {
    run -0 --separate-stderr petal check -q f.petal lines
    is "$output$stderr" ""
    run -1 petal check -q f.petal -e four
    run -2 petal check -q f.petal missing -e four
    run -0 petal check -q f.petal missing lines
    yes one | petal check -q f.petal
}

@test "-v selects lines that are certainly not in the filter" {
    run -0 petal check -v f.petal lines
    is "$output" $'four\nfive'
    run -0 petal check -qv f.petal lines
}

@test "-c prints one number, even if it is 0, with the status of grep" {
    run -0 petal check -c f.petal lines lines
    is "$output" 4
    run -0 petal check -cv f.petal lines
    is "$output" 2
    run -1 petal check -c f.petal -e four
    is "$output" 0
    run -0 petal check -cq f.petal lines
    is "$output" ""
}

@test "-n prints each line's number in its file before the line" {
    run -0 petal check -n f.petal lines lines
    is "$output" $'1:one\n3:three\n1:one\n3:three'
    run -0 petal check -vn f.petal lines
    is "$output" $'2:four\n4:five'
    seq 3000 >many
    echo one >>many
    is "$(petal check -n f.petal many)" 3001:one
}

@test "-e queries keys of the command line; files are read only if they are named" {
    run -0 petal check f.petal -e one -e four --key=two
    is "$output" $'one\ntwo'
    run -0 petal check -e three f.petal lines
    is "$output" $'three\none\nthree'
    run -0 petal check f.petal -e two - <lines
    is "$output" $'two\none\nthree'
}

@test "on the URL list it agrees with grep -Fx: it prints all lines in the set, and no more others than the rate allows" {
    make_urls
    sort -u urls.txt >all
    awk 'NR % 2' all >half
    petal build -p 1% -o half.petal half
    grep -Fxf half urls.txt >true
    petal check half.petal urls.txt >said
    # Every line in the set must be found: removing these lines from the output must leave only
    # false positives.
    diff <(grep -Fxf half said) true
    # Of the 14,809 absent keys, at most 1 % (148) plus 5 standard deviations may be found.
    sort -u said >distinct
    wrong=$(comm -23 distinct half | wc -l)
    [ "$wrong" -gt 0 ]
    [ "$wrong" -le $((148 + 5 * 13)) ]
    # The two outputs together must contain every line of the list.
    petal check -v half.petal urls.txt >rest
    is "$(cat said rest | sort | cksum)" "$(sort urls.txt | cksum)"
    is "$(petal check -c half.petal urls.txt)" "$(wc -l <said)"
}

@test "options may come before, between and after other arguments, bundled or with an attached value" {
    for arguments in '-vc f.petal lines' 'f.petal -v lines -c' 'f.petal lines --count --invert-match' '-cv -- f.petal lines'; do
        run -0 petal check $arguments
        is "$output" 2
    done
    is "$(petal check f.petal -cefour -eone)" 1
    cp lines -- -v
    is "$(petal check -c f.petal -- -v)" 2
}

@test "an unknown option is named, with the most similar one" {
    refuses "check: no option --invert-mach, did you mean --invert-match? See petal help check" petal check --invert-mach f.petal
    refuses "check: no option --frobnicate; see" petal check --frobnicate f.petal
    refuses "check: no option -x; see" petal check -vx f.petal
    refuses "check: -e needs KEY; see" petal check f.petal -e
    refuses "check: --count takes no value; see" petal check --count=3 f.petal
    refuses "--key-type: unknown value 'i65'; choose one of text|utf16le|i32|i64|f64|hex|base64" petal check --key-type i65 f.petal
    refuses "--explain shows every key; leave out -v, -c, -q and -n" petal check --explain -v f.petal
}

@test "--explain prints each key with its verdict and its bits, separated by tabs" {
    run -0 petal check --explain f.petal -e one -e four
    [[ ${lines[0]} =~ ^one$'\t'probably\ in$'\t'line\ 0:\ word\ [0-9]+\ bit\ [0-9]+\ set, ]]
    [[ ${lines[1]} =~ ^four$'\t'certainly\ not$'\t'line\ 0:\ word\ .*\ clear ]]
    run -1 petal check --explain f.petal -e four
}

@test "--explain agrees with the answer, for every key, scheme and number of lines" {
    seq 400 >in
    seq 300 700 >ask
    for options in '-p 1%' '-p 1e-5 --lines-per-key 2' '-p 1% --scheme classic' '--bits 5000 --hashes 1 --scheme classic' \
        '-p 1% --seed 99'; do
        petal build --force $options -o g.petal in
        petal check --explain g.petal ask >explained
        awk -F'\t' '($2 == "probably in") == ($3 ~ /clear/) || $3 !~ /set|clear/ { print; bad = 1 } END { exit bad }' explained
        k=$(petal info --json g.petal | field hashes)
        awk -F'\t' -v k=$k 'gsub(/set|clear/, "", $3) != k { print; bad = 1 } END { exit bad }' explained
        diff <(awk -F'\t' '$2 == "probably in" { print $1 }' explained) <(petal check g.petal ask)
    done
}

@test "the hash of hello selects the bits that docs/format.md computes" {
    echo hello | petal build -o h.petal --bits 1024 --hashes 3
    run -0 petal check --explain h.petal -e hello
    is "$output" $'hello\tprobably in\tline 1: word 3 bit 5 set, word 14 bit 3 set, word 9 bit 8 set'
}

@test "the output of a long input is complete" {
    seq 200000 >numbers
    petal build -o n.petal -p 1e-5 numbers
    petal check n.petal numbers | cmp - numbers
    petal check n.petal <numbers | cmp - numbers
    cat numbers | petal check n.petal - | cmp - numbers
}
