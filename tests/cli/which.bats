#!/usr/bin/env bats
# which.bats - petal which gives the same answer for every filter as petal check gives for that
# filter alone.
load helper

setup() {
    mkdir "$BATS_TEST_TMPDIR/here" && cd "$BATS_TEST_TMPDIR/here" || return
    seq 100 199 | petal build -p 1e-6 -o a.petal
    seq 150 349 | petal build -p 1e-6 -o b.petal
    seq 300 320 | petal build -p 1e-6 -o c.petal
}

# ask_each KEYFILE OPTION... -- FILTER...: runs petal check for each filter. Like petal which,
# prints each line that was found, followed by the names of the filters that contain it.
ask_each() {
    local keys=$1 options=() filter
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    for filter; do
        secret=()
        ! petal info "$filter" 2>&1 | grep -q 'pass --secret-file' || secret=(--secret-file secret)
        petal check -n "${secret[@]}" "${options[@]}" "$filter" "$keys" 2>/dev/null | sed "s|:.*|\t$filter|" || true
    done >found
    awk -F '\t' 'NR == FNR { names[$1] = names[$1] FS $2; next } FNR in names { print $0 names[FNR] }' found "$keys"
}

@test "each key is printed with the names of all filters that may have it, in the given order" {
    run -0 --separate-stderr petal which a.petal b.petal c.petal -e 120 -e 160 -e 310 -e none -e 1
    is "$output" $'120\ta.petal\n160\ta.petal\tb.petal\n310\tb.petal\tc.petal'
    is "$stderr" ""
    run -0 petal which c.petal ./b.petal -e 310
    is "$output" $'310\tc.petal\t./b.petal'
    run -0 petal which b.petal b.petal -e 310
    is "$output" $'310\tb.petal\tb.petal'
}

@test "keys come from -e, from files after --, or from standard input" {
    seq 345 355 >keys
    run -0 petal which a.petal b.petal -- keys
    is "$output" "$(seq 345 349 | sed 's/$/\tb.petal/')"
    is "$(petal which a.petal b.petal <keys)" "$output"
    is "$(petal which a.petal b.petal -- - <keys)" "$output"
    run -0 petal which -e 120 a.petal b.petal -- keys keys
    is "${#lines[@]}" 11
    is "${lines[0]}" $'120\ta.petal'
    gzip keys
    is "$(petal which -z b.petal -- keys.gz | wc -l)" 5
    run -0 petal which --csv 2 b.petal -- <(printf 'x,301\ny,17\n"z\nz",302\n')
    is "$output" $'x,301\tb.petal\n"z\nz",302\tb.petal'
    is "$(printf '%s\0' 301 x 302 | petal which -0 b.petal | tr '\0' '\n')" $'301\tb.petal\n302\tb.petal'
    is "$(printf '301\r\n5\r\n302\r\n' | petal which --crlf b.petal)" $'301\tb.petal\r\n302\tb.petal\r'
    printf '301\tx\ny\n' >tabs
    is "$(petal which -t TAB -k 1 b.petal --json -- tabs 2>rest)" '{"key":"301\tx","filters":["b.petal"]}'
    run -0 petal which b.petal -e 301 <&-
}

@test "the status is 0 if a filter was found, 1 if none was, 2 after an error" {
    run -1 --separate-stderr petal which a.petal b.petal -e none
    is "$output$stderr" ""
    run -1 petal which a.petal -l -e none
    is "$output" ""
    run -1 petal which a.petal -c -e none
    is "$output" $'a.petal\t0'
    run -1 petal which a.petal --min 60% -e none -e 100
    run -1 petal which a.petal -- /dev/null
    run -1 petal which a.petal -l --min 1% -- /dev/null
    run -2 --separate-stderr petal which a.petal -e 100 -- missing
    is "$output" $'100\ta.petal'
    is "$stderr" "petal: missing: cannot open it: No such file or directory; if it is a key, pass it with -e"
}

@test "-l names filters with any of the keys, -c counts, and --min requires a share of them" {
    seq 191 200 >keys # b contains all of these keys, and a contains 9
    is "$(petal which -l a.petal b.petal c.petal -- keys)" $'a.petal\nb.petal'
    is "$(petal which -c a.petal b.petal c.petal -- keys)" $'a.petal\t9\nb.petal\t10\nc.petal\t0'
    is "$(petal which --min 90% a.petal b.petal c.petal -- keys)" $'a.petal\nb.petal'
    is "$(petal which --min 0.91 a.petal b.petal c.petal -- keys)" b.petal
    is "$(petal which --min 100% -l a.petal b.petal c.petal -- keys)" b.petal
    is "$(petal which --min 1 -c a.petal b.petal c.petal -- keys)" $'b.petal\t10'
    is "$(petal which --min 1:2 --json a.petal c.petal -- keys)" '{"filter":"a.petal","keys":9,"of":10}'
    is "$(petal which -c a.petal -- keys keys)" $'a.petal\t18'
    # --min compares whole numbers exactly: 7 of 100 keys are 7 %
    seq 193 292 >hundred
    is "$(petal which --min 7% a.petal -- hundred)" a.petal
    run -1 petal which --min 7.001% a.petal -- hundred
    for share in 0 0% 101% 2 -1 x; do refuses "--min $share" petal which --min $share a.petal -e 1; done
    refuses "choose one" petal which -lc a.petal -e 1
}

@test "every answer equals that of petal check, for filters of all kinds" {
    make_urls
    sort -u urls.txt | awk 'NR % 3' >known
    awk 'NR % 40 == 0' urls.txt >keys
    sed 's/$/x/' keys | head -n 700 >>keys
    printf 'secret of 16 byt' >secret
    printf '\n' >>keys
    n=0
    kind() { # kind OPTIONS...: creates a filter from 10 of 11 keys
        n=$((n + 1))
        awk -v n=$n 'NR % 11 != n % 11' known | petal build --force -o "$n.filter" "$@" 2>/dev/null
    }
    kind -p 20%
    kind -p 1% --seed 1
    kind -p 1% --seed 18446744073709551615
    kind -p 5% --scheme classic
    kind -p 5% --scheme classic --seed 1
    kind --bits 51200 --hashes 3 --lines-per-key 2
    kind -p 5% --scheme counting
    kind -p 5% --scheme static
    kind -p 5% --secret-file secret
    kind -p 30% --grow -n 500
    formats=$(petal formats --json | sed 's/.*"format":"\([^"]*\)".*/\1/')
    for format in $formats; do
        kind -p 10% --to $format && mv $n.filter $format.filter
        # files in some formats can only be opened if the format is given
        cp $format.filter same.file
        awk 'NR % 2' known | petal build --force -p 10% --to $format -o other.file 2>/dev/null
        ask_each keys --from $format -- same.file other.file >wanted
        petal which --from $format same.file other.file -- keys | cmp - wanted
    done
    petal create --window 500 -o window.filter && petal add window.filter known
    petal create --window 1d -n 50k -o day.filter
    petal add day.filter --now 1700000000 known 2>/dev/null
    kinds=()
    for filter in *.filter; do
        status=0 && petal which "$filter" --secret-file secret -e x &>/dev/null || status=$?
        [ $status -eq 2 ] || kinds+=("$filter")
    done
    [ "${#kinds[@]}" -ge 30 ] || fail "only ${kinds[*]}"
    for now in 1700000001 1800000000; do
        ask_each keys --now $now -- "${kinds[@]}" >wanted
        set -- --secret-file secret --now $now
        [ "$(wc -l <wanted)" -gt 1000 ]
        for threads in 1 4; do
            petal which --threads $threads "$@" "${kinds[@]}" -- keys 2>/dev/null | cmp - wanted
        done
        # with few descriptors, each filter is reopened for every block
        (ulimit -n 24 && petal which "$@" "${kinds[@]}" -- keys 2>/dev/null) | cmp - wanted
        tr '\t' '\n' <wanted | grep 'filter$' | sort | uniq -c | awk '{ print $2 "\t" $1 }' >counts
        petal which -c "$@" "${kinds[@]}" -- keys 2>/dev/null | grep -v '[^0-9]0$' | sort | cmp - counts
    done
}

@test "@LIST names filters, one per line or separated by NUL; any names are possible" {
    mkdir 'sub folder' && cp a.petal 'sub folder/a b.petal' && cp b.petal ./@b
    printf 'sub folder/a b.petal\n\nb.petal' >list
    run -0 petal which c.petal @list ./@b -e 160 -e 310
    is "$output" $'160\tsub folder/a b.petal\tb.petal\t./@b\n310\tc.petal\tb.petal\t./@b'
    is "$(find 'sub folder' -type f -print0 | petal which @- -e 160)" $'160\tsub folder/a b.petal'
    is "$(printf 'a.petal\r\nb.petal\r\n' >dos; petal which --crlf @dos -e 160)" $'160\ta.petal\tb.petal'
    : >empty
    refuses "empty: names no filter" petal which @empty -e 1
    refuses "nolist" petal which @nolist -e 1
    refuses "missing.petal: cannot open it" petal which @<(printf 'a.petal\nmissing.petal\n') -e 1
    cp a.petal $'t\tab.petal'
    refuses "t?ab.petal: its name has a tab or a newline, which end names here; pass --json" petal which $'t\tab.petal' -e 120
    is "$(petal which --json $'t\tab.petal' -e 120)" '{"key":"120","filters":["t\tab.petal"]}'
    is "$(petal which -l $'t\tab.petal' -e 120)" $'t\tab.petal'
}

@test "standard input is a filter, a list or the keys, but only one of them" {
    is "$(petal which - b.petal -e 160 <a.petal)" $'160\t-\tb.petal'
    refuses "standard input: is a filter or a list; name the files of the keys, or use -e" petal which - b.petal <a.petal
    refuses "standard input: is a filter or a list" petal which @- -- - <a.petal
    refuses "standard input: was read already" petal which - - -e 1 <a.petal
    (ulimit -n 24 && seq 150 155 | petal which a.petal b.petal | wc -l | grep -qx 6)
}

@test "a file that can't be opened is named, and nothing is queried" {
    head -c -10 a.petal >cut.petal
    run -2 --separate-stderr petal which a.petal nowhere.petal b.petal cut.petal . -e 160
    is "$output" ""
    is "${#stderr_lines[@]}" 3
    contains "${stderr_lines[0]}" "petal: nowhere.petal: cannot open it: No such file"
    contains "${stderr_lines[1]}" "petal: cut.petal: "
    contains "${stderr_lines[2]}" "petal: .: "
    run -2 --separate-stderr petal which @<(seq 1000) -e 1
    is "${#stderr_lines[@]}" 11
    contains "${stderr_lines[10]}" "the filters after these were not tried"
    echo text >keys
    refuses "keys: not a filter (text, from byte 0)" petal which a.petal keys
    refuses "which: needs filters; files of keys come after --" petal which -e 160
    refuses "which: needs filters" petal which -- a.petal
    refuses "a.petal: is a filter, not a list of keys" petal which b.petal -- a.petal
}

@test "a damaged filter among many is named, and its answers are not printed" {
    for i in $(seq 40); do cp b.petal f$i.petal; done
    size=$(wc -c <f17.petal)
    flip f17.petal $((size - 100)) ff
    run -2 --separate-stderr petal which f*.petal -e 160
    is "$output" ""
    contains "$stderr" "petal: f17.petal: "
    contains "$stderr" "; --no-verify trusts what is there"
    run -0 petal which --no-verify f*.petal -e none -e 160
    [ "$(tr '\t' '\n' <<<"$output" | grep -c petal)" -ge 39 ]
    run -2 petal which -c f*.petal -e 160
    is "$(grep -c "^f" <<<"$output" || true)" 0
}

@test "a line must be the same key in all filters, or they are refused" {
    seq 5 | petal build --key-type i64 -p 1e-6 -o i64.petal
    seq 5 | petal build --key-type text -p 1e-6 -o text.petal
    printf '0a\n' | petal build --key-type hex -p 1e-6 -o hex.petal
    printf 'Cg==\n' | petal build --key-type base64 -p 1e-6 -o base64.petal
    run -2 --separate-stderr petal which text.petal i64.petal -e 3
    contains "$stderr" "query them apart, or pass --key-type"
    run -2 petal which a.petal i64.petal -e 3
    run -2 petal which hex.petal base64.petal -e 0a
    is "$(petal which i64.petal i64.petal -e 3 -e 9)" $'3\ti64.petal\ti64.petal'
    is "$(petal which text.petal a.petal -e 3 -e 120)" $'3\ttext.petal\n120\ta.petal'
    is "$(petal which --key-type hex hex.petal base64.petal -e 0a)" $'0a\thex.petal\tbase64.petal'
    refuses "has keys of type text, not i64" petal which --key-type i64 i64.petal text.petal -e 3
    petal create --key-type any -n 10 -p 1e-6 -o any.petal
    petal add any.petal --key-type i64 -e 3
    run -2 petal which i64.petal any.petal -e 3
    is "$(petal which --key-type i64 i64.petal any.petal -e 3)" $'3\ti64.petal\tany.petal'
    run -2 --separate-stderr petal which i64.petal -e 4 -e x
    is "$output" $'4\ti64.petal'
    contains "$stderr" '-e: line 2: not a whole number'
    run -0 --separate-stderr petal which --key-type i64 -k 2 i64.petal -- <(printf 'a 4\na\n')
    contains "$stderr" "1 row without a key: queried nowhere"
}

@test "thousands of filters work with few open files and little memory" {
    seq 2000 | petal build --bits 5120 --hashes 3 -o some.petal
    for i in $(seq 0 2999); do ln some.petal n$i.petal; done
    seq 40 | petal build -p 1e-6 -o last.petal
    ls | grep '^n' >list
    echo last.petal >>list
    seq 60 | petal which @list >answers
    is "$(wc -l <answers)" 60
    is "$(head -n 1 answers | tr '\t' '\n' | wc -l)" 3002
    is "$(grep -c last.petal answers)" 40
    # more keys than one slice can hold
    seq 30000 | petal which -c @list >counts
    is "$(tail -n 1 counts)" $'last.petal\t40'
    seq 30000 >keys
    (ulimit -v 600000 && ulimit -n 64 && petal which @list --json -- keys) >slices
    [ "$(tail -n +40 slices | wc -l)" -gt 1900 ]
    seq 60 | (ulimit -n 64 && petal which @list) | cmp - answers
}
