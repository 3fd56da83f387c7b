#!/usr/bin/env bats
# rows.bats - the key of a row is a field, a CSV column or a JSON value. Whole rows are printed byte
# for byte, and a row without a key is never lost.
load helper

# Writes a list of people as CSV in the form that a spreadsheet exports: with CR LF, quotes, and a
# field that spans two lines.
make_people() {
    printf '%s\r\n' 'id,name,email' '1,Ada,ada@example.com' '2,"Bell, A.",bell@example.com' \
        '3,"says ""no""",cyd@example.com' >people.csv
    printf '4,"two\r\nlines",dan@example.com\r\n' >>people.csv
    printf '%s\r\n' '5,Eve,eve@example.com' >>people.csv
}

# set FILE KEY...: creates a filter with a rate so low that no test encounters a false positive
set_of() {
    local file=$1
    shift
    printf '%s\0' "$@" | petal build --force -0 -p 1e-12 -o "$file"
}

# random KIND SEED ROWS [DELIMITER COLUMN...]: see lib/random_rows.py
random() { python3 "$PETAL_ROOT/tests/cli/lib/random_rows.py" "$@"; }

needs_zstd() {
    needs zstd
    petal --version | grep -q 'with zstd' ||
        skip 'this petal has no zstd: ./dev test --all installs libzstd-dev'
}

# ---- first examples ------------------------------------------------------------------------------

@test "a column of CSV: the rows that awk finds, and their header" {
    seq 1 3000 | awk '{ print $1 ",user" $1 % 700 "@example.com,x" }' >list
    { echo id,email,note; cat list; } >list.csv
    seq 0 2 699 | sed 's/.*/user&@example.com/' >set
    petal build -p 1e-12 -o set.petal set
    awk -F, 'NR == FNR { set[$0]; next } FNR == 1 || $2 in set' set list.csv >members
    awk -F, 'NR == FNR { set[$0]; next } FNR == 1 || !($2 in set)' set list.csv >others
    petal check --csv email set.petal list.csv | cmp - members
    petal check --csv email -v set.petal list.csv | cmp - others
    petal check --csv 2 --header set.petal list.csv | cmp - members
    petal check --csv 2 set.petal list | cmp - <(tail -n +2 members)
    petal check -t, -k2 set.petal list | cmp - <(tail -n +2 members)
    is "$(petal check -c --csv email set.petal list.csv)" "$(tail -n +2 members | wc -l)"
    petal seen --csv email list.csv | cmp - <(awk -F, 'FNR == 1 || !seen[$2]++' list.csv)
    petal seen --csv email -d list.csv | cmp - <(awk -F, 'FNR == 1 || seen[$2]++' list.csv)
}

@test "a field of a log, as awk and sort split it" {
    for i in $(seq 1 400); do
        printf '%s  10.0.%d.%d\t"GET /%d"\n' "$i" $((i % 7)) $((i % 11)) "$i"
    done >log
    sed -i '2s/^/   /; 3s/^/\t/' log
    awk '!seen[$2]++' log >fresh
    petal seen -k 2 log | cmp - fresh
    petal seen -k 2 <log | cmp - fresh
    awk '{ print $2 }' log | sort -u >clients
    petal build -k 2 -o f.petal log
    is "$(petal info --json f.petal | field items)" "$(wc -l <clients)"
    petal check f.petal clients | cmp - clients
    petal seen -t '\t' -k 2 log | cmp - log
    petal seen -t TAB -k 2 log | cmp - log
    petal seen -t "$(printf '\t')" -k 2 log | cmp - log
}

@test "a value of JSON lines, as Python reads it" {
    needs python3
    for i in $(seq 1 500); do
        printf '{"n": %d, "user": {"tags": ["t%d", "x"], "name": "caf\\u00e9 %d"}}\n' "$i" $((i % 9)) $((i % 50))
    done >lines
    python3 -c 'import json, sys
seen = set()
for line in open("lines", encoding="utf-8"):
    name = json.loads(line)["user"]["name"]
    if name not in seen: sys.stdout.write(line)
    seen.add(name)' >fresh
    petal seen --jsonl .user.name lines | cmp - fresh
    is "$(wc -l <fresh)" 50
    petal build --jsonl .user.name -p 1e-12 -o f.petal lines
    petal check -q f.petal -e 'café 49'
    is "$(petal seen --jsonl '.user.tags[0]' lines | wc -l)" 9
}

@test "a pipe of rows can be built, queried and filtered, packed or not" {
    make_people
    gzip -c people.csv | petal build -z --csv email -p 1e-12 -o - |
        petal check - people.csv --csv email | cmp - people.csv
}

# ---- CSV -----------------------------------------------------------------------------------------

@test "CSV follows RFC 4180: quotes, commas, newlines, CR LF, a last row without a newline" {
    make_people
    set_of names 'Bell, A.' 'says "no"' $'two\r\nlines' Eve
    petal check --csv name names people.csv | cmp - <(sed '2d' people.csv)
    petal check --csv name -v names people.csv | cmp - <(sed -n '1,2p' people.csv)
    is "$(petal check --csv name -n names people.csv | tr -d '\r' | cut -d, -f1 | paste -sd' ')" "1:id 3:2 4:3 5:4 lines\" 7:5"
    set_of mails eve@example.com
    head -c -2 people.csv | petal check --csv email mails | cmp - <(printf 'id,name,email\r\n5,Eve,eve@example.com\n')
    printf '\xef\xbb\xbf"id",name\n7,x\n' >marked.csv
    set_of sevens 7
    petal check --csv id sevens marked.csv | cmp - marked.csv
    printf '\xef\xbb\xbf7,x\n' >marked.csv
    petal check --csv 1 sevens marked.csv | cmp - marked.csv
    printf 'a "b",c\n5" disk,d\n' >stray.csv
    set_of quotes 'a "b"' '5" disk'
    petal check --csv 1 quotes stray.csv | cmp - stray.csv
}

@test "columns are selected by name or number, quoted or not, with any separator" {
    printf '2020;"last, first";last, first\n1;2;3\n4;5;6\n' >t.csv
    set_of ones 1
    petal check -t ';' --csv '"2020"' ones t.csv | cmp - <(sed 3d t.csv)
    petal check -t ';' --csv 1 ones t.csv | cmp - <(sed -n 2p t.csv)
    set_of twos 2
    sed -i 's/;last, first$/;third/' t.csv
    petal check -t ';' --csv '"last, first"' twos t.csv | cmp - <(sed 3d t.csv)
    printf '1\t"a\tb"\n' >t.tsv
    set_of ab $'a\tb'
    petal check -t TAB --csv 2 ab t.tsv | cmp - t.tsv
}

@test "the first header is printed once, whatever is selected; other headers are skipped, and reported if they differ" {
    printf 'id,name\n1,a\n2,b\n' >one.csv
    printf 'name,id\nc,3\na,1\n' >two.csv
    set_of set 1 3
    run -0 --separate-stderr petal check --csv id set one.csv one.csv
    is "$output" $'id,name\n1,a\n1,a'
    is "$stderr" ""
    run -0 --separate-stderr petal check --csv id set one.csv two.csv
    is "$output" $'id,name\n1,a\nc,3\na,1'
    is "$stderr" "petal: two.csv: has another header than the first file, which is the one kept"
    set_of none x
    run -1 petal check --csv id none one.csv
    is "$output" id,name
    printf 'id,name' >empty.csv
    run -1 petal check --csv id none empty.csv
    is "$output" id,name
    is "$(petal seen --csv id empty.csv)" id,name
    : >nothing.csv
    is "$(petal seen --csv id nothing.csv)" ""
    is "$(petal seen --csv id nothing.csv one.csv)" "$(cat one.csv)"
    is "$(petal seen --csv id -f seen.petal one.csv)" "$(cat one.csv)"
    is "$(petal seen --csv id -f seen.petal one.csv two.csv)" $'id,name\nc,3'
}

@test "random CSV: exactly the rows whose field is in Python's set" {
    needs python3
    for seed in 1 2 3 4 5 6; do
        for delimiter in ',' ';'; do
            random csv $seed 300 "$delimiter" name
            petal build --force -0 -p 1e-12 -o set.petal set
            petal check -t "$delimiter" --csv name set.petal rows 2>said | cmp - members
            petal check -t "$delimiter" --csv name -v set.petal rows 2>>said | cmp - others
            random csv $seed 300 "$delimiter" 'a "b", c' id
            petal build --force -0 -p 1e-12 -o set.petal set
            petal check -t "$delimiter" --csv '"a ""b"", c",id' set.petal rows 2>>said | cmp - members
            random csv $seed 300 "$delimiter" 4 1
            petal build --force -0 -p 1e-12 -o set.petal set
            petal check -t "$delimiter" --csv 4,1 --header -v set.petal rows 2>>said | cmp - others
            is "$(cat said)" ""
        done
    done
}

@test "random CSV of many blocks gives the same rows with any number of threads, and in pieces" {
    needs python3
    for seed in 7 8 9; do
        random csv $seed 20000 , name
        petal build --force -0 -p 1e-12 -o set.petal set
        for threads in 1 2 5; do
            petal check --threads $threads --csv name set.petal rows | cmp - members
            cat rows | petal check --threads $threads --csv name -v set.petal | cmp - others
        done
        gzip -c rows | petal check -z --csv name set.petal | cmp - members
        dd if=rows bs=977 status=none | petal check --csv name set.petal | cmp - members
    done
}

@test "huge rows: a quoted field of megabytes, and one in the last column" {
    {
        echo 'id,text'
        printf '1,"'
        head -c 3000000 /dev/zero | tr '\0' '\n'
        printf 'x""y,"\n2,z\n3,'
        head -c 1000000 /dev/zero | tr '\0' q
        printf '\n'
    } >huge.csv
    set_of ids 1 3
    petal check --csv id ids huge.csv | cmp - <(grep -v '^2,z$' huge.csv)
    set_of texts "$(head -c 1000000 /dev/zero | tr '\0' q)"
    petal check --csv text texts huge.csv | cmp - <(sed -n '1p;$p' huge.csv)
    petal seen --csv text,id huge.csv | cmp - huge.csv
}

# ---- several fields ------------------------------------------------------------------------------

@test "several fields are joined by 0x1F in the given order, as by Python's join" {
    needs python3
    printf 'a,b,c\nd,e,f\n' >t
    python3 -c 'import sys; sys.stdout.buffer.write(b"\x1f".join([b"c", b"a"]))' >key
    set_of f.petal "$(cat key)"
    is "$(petal check f.petal -t, -k 3,1 t)" a,b,c
    is "$(petal check f.petal --csv 3,1 t)" a,b,c
    run -1 petal check f.petal -t, -k 1,3 t
    tr , ' ' <t >words
    is "$(petal check f.petal -k 3,1 words)" 'a b c'
    echo '{"x": {"y": "a"}, "z": ["\u0063"]}' >j
    petal check -q f.petal --jsonl '.z[0],.x.y' j
    printf '"c","a"\n' | petal check -q f.petal --csv 1,2
    run -0 --separate-stderr petal seen -t, -k 1,2 <<<$'a\x1fb,c\nd,e'
    is "$output" $'a\x1fb,c\nd,e'
    is "${stderr_lines[0]}" 'petal: standard input: line 1: a field holds the byte 0x1F: "a?b,c"'
    is "$(petal seen -t, -k 1 <<<$'a\x1fb,c\na\x1fb,d')" $'a\x1fb,c'
}

@test "typed fields, and fields for a filter that records a key type" {
    printf 'id,name\n1,a\n02,b\nx,c\n' >t.csv
    run -0 --separate-stderr petal build --csv id --key-type i64 -p 1e-12 -o f.petal t.csv
    is "${stderr_lines[0]}" 'petal: t.csv: line 4: not a whole number: "x,c"'
    is "${stderr_lines[1]}" "petal: 1 row without a key: left out"
    run -0 --separate-stderr petal check --csv id f.petal t.csv
    is "$output" $'id,name\n1,a\n02,b'
    is "$(petal check --csv id -v f.petal t.csv 2>&-)" $'id,name\nx,c'
    is "$(petal seen -f f.petal --csv id t.csv 2>&-)" $'id,name\nx,c'
    refuses "f.petal: keys of type i64 have one field each, not 2" petal check --csv id,name f.petal t.csv
    refuses "--key-type: keys of type hex have one field each" petal seen --csv id,name --key-type hex t.csv
    run -2 --separate-stderr petal check --csv id --strict f.petal t.csv
    is "$output" $'id,name\n1,a\n02,b'
    is "$stderr" 'petal: t.csv: line 4: not a whole number: "x,c"'
}

# ---- JSON ----------------------------------------------------------------------------------------

@test "random JSON lines: exactly the rows whose value is in Python's set, and the right number without a value" {
    needs python3
    for seed in 1 2 3 4 5 6 7 8; do
        random json $seed 1000
        petal create --force --key-type any -n 3000 -p 1e-12 -o set.petal
        petal add --key-type base64 set.petal set
        for path in '.a.é[0]' '."a"."é"[0]'; do
            petal check --key-type text --jsonl "$path" set.petal rows 2>said | cmp - members
            petal check --key-type text --jsonl "$path" -v set.petal rows 2>said | cmp - others
            is "$(tail -n 1 said | tr -d ,)" "petal: $(cat strays) rows without a key: taken as not in the filter"
        done
    done
}

@test "JSON values: strings are decoded, numbers and booleans are their text, null is no value" {
    printf '%s\n' '{"v": "a\u00e9\n\ud83c\udf38\/"}' '{"v": 1.50e+3}' '{"v":true}' '{"v":"true"}' '{"v":""}' '"v"' '[["v"]]' >lines
    set_of values $'aé\n🌸/' 1.50e+3 true ''
    petal check --jsonl .v values lines 2>&- | cmp - <(head -n 5 lines)
    set_of v v
    is "$(petal check --jsonl . v lines 2>&-)" '"v"'
    is "$(petal check --jsonl '.[0][0]' v lines 2>&-)" '[["v"]]'
    is "$(printf '{"v":1}\0{\n"v":1}\0' | petal seen -0 --jsonl .v | tr '\0' +)" '{"v":1}+'
}

@test "each reason for a missing value is named, and the depth is limited" {
    why() { petal seen --jsonl .a.b <<<"$1" 2>&1 >out | sed -n 's/.*line 1: \([^:"]*\): .*/\1/p'; cmp out <(echo "$1"); }
    is "$(why '{"a":{"c":1}}')" 'no value at the path'
    is "$(why '{"a":[{"b":1}]}')" 'no value at the path'
    is "$(why '{"a":{"b":null}}')" 'the value is null'
    is "$(why '{"a":{"b":[]}}')" 'the value is an object or an array'
    is "$(why '{"a":{"b":"\udf38"}}')" 'half of a surrogate pair'
    is "$(why '')" 'an empty row'
    for wrong in '{' '{}}' '{"a":{"b":1}' "{'a':1}" '{"a":{"b":01}}' '{"a":{"b":1.}}' '{"a":{"b":+1}}' '{"a":{"b":NaN}}' \
        '{"a":{"b":"\x"}}' '{"a":{"b":"\u12"}}' '{"a":{"b":1},}' '{"a":{"b":1}} x' '{"a":{"b":tru}}' '{"a" {"b":1}}' '[1,]' '"a' "\"$(printf 'a\tb')\""; do
        is "$(why "$wrong")" 'not JSON'
    done
    deep=$(head -c 100000 /dev/zero | tr '\0' '[')
    run -0 --separate-stderr petal seen --jsonl .a <<<"$deep"
    contains "$stderr" "line 1: nested too deeply: "
}

# ---- rows without a key --------------------------------------------------------------------------

@test "rows without a key are shown with their line numbers and counted, and no command loses them" {
    printf 'a,1\nb\n"c\nd",2\n\ne,5\nf\n"x"y,6\n' >t.csv
    said() {
        is "${stderr_lines[0]}" 'petal: t.csv: line 2: too few fields: "b"'
        is "${stderr_lines[1]}" 'petal: t.csv: line 5: an empty row: ""'
        is "${stderr_lines[2]}" 'petal: t.csv: line 7: too few fields: "f"'
        is "${stderr_lines[3]}" "petal: 4 rows without a key: $1"
        is "${#stderr_lines[@]}" 4
    }
    run -0 --separate-stderr petal build --csv 2 -p 1e-12 -o f.petal t.csv
    said "left out"
    is "$(petal info --json f.petal | field items)" 3
    for threads in 1 3; do
        run -0 --separate-stderr petal check --threads $threads --csv 2 f.petal t.csv
        said "taken as not in the filter"
        is "$output" $'a,1\n"c\nd",2\ne,5'
    done
    run -0 --separate-stderr petal check -n --csv 2 -v f.petal t.csv
    is "$output" $'2:b\n5:\n7:f\n8:"x"y,6'
    is "$(petal check -c -v --csv 2 f.petal t.csv 2>&-)" 4
    run -0 --separate-stderr petal seen --csv 2 t.csv
    said "passed on"
    cmp t.csv <(printf '%s\n' "$output")
    is "$(petal seen --csv 2 -d t.csv t.csv 2>&-)" $'a,1\n"c\nd",2\ne,5'
    run -0 --separate-stderr petal add --csv 2 f.petal t.csv
    said "left out"
    petal build --scheme counting -o c.petal --csv 2 t.csv 2>message
    is "$(wc -l <message)" 4
    run -0 --separate-stderr petal remove --csv 2 c.petal t.csv
    said "left out"
    is "$(petal info --json c.petal | field items)" 0
    run -0 --separate-stderr petal verify f.petal --present t.csv --csv 2
    said "left out"
}

@test "seen -f remembers what was delivered, even if some rows have no key" {
    seq 1 60000 | awk '{ print $1 ",x" } $1 % 3 == 0 { print "stray " $1 }' >rows
    { petal seen -f s.petal -n 200k -p 1e-9 -t, -k 2 rows >/dev/null; } 2>&-
    is "$(petal seen -t, -k 2 -f s.petal rows 2>&- | grep -c stray)" 20000
    rm s.petal
    set +o pipefail
    awk -F, 'NF > 1 { print $1 "," $1; next } 1' rows >numbered
    petal seen -f s.petal -n 200k -p 1e-9 -t, -k 2 numbered 2>&- | head -c 300000 >got
    whole=$(grep -c , got)
    petal seen -f s.petal -n 200k -p 1e-9 -t, -k 2 numbered 2>&- | grep , >rest
    [ "$(wc -l <rest)" -le $((60001 - whole)) ]
    [ "$(wc -l <rest)" -ge 1 ]
    sort -u <(head -n -1 got | grep ,) rest | cmp - <(grep , numbered | sort -u)
}

@test "--strict stops at the first row without a key; earlier rows are processed" {
    printf 'a,1\nb,2\nc\nd,4\n' >t.csv
    set_of f.petal 1 2 4
    for threads in 1 3; do
        run -2 --separate-stderr petal check --threads $threads --csv 2 --strict f.petal t.csv
        is "$output" $'a,1\nb,2'
        is "$stderr" 'petal: t.csv: line 3: too few fields: "c"'
    done
    run -2 --separate-stderr petal seen --csv 2 --strict t.csv
    is "$output" $'a,1\nb,2'
    refuses 't.csv: line 3: too few fields: "c"' petal build --csv 2 --strict -o g.petal t.csv
    [ ! -e g.petal ]
    run -2 --separate-stderr petal add --csv 2 --strict f.petal t.csv
    is "${stderr_lines[1]}" "petal: f.petal: the 2 keys before that are in"
    refuses 'line 1: not JSON: "x"' petal seen --strict --jsonl .a <<<x
}

@test "shard writes whole rows, a header per file, and rows without a key to shard 0" {
    { echo id,name; for i in $(seq 1 200); do echo "$i,\"n$i"; echo "\""; done; echo lost; } >t.csv
    run -0 --separate-stderr petal shard -n 3 -o 'part-%d.csv' --csv name t.csv
    is "${stderr_lines[1]}" "petal: 1 row without a key: put into shard 0"
    for i in 0 1 2; do
        is "$(head -n 1 part-$i.csv)" id,name
        petal shard -n 3 -i $i --csv name t.csv 2>&- | cmp - part-$i.csv
    done
    is "$(tail -n 1 part-0.csv)" lost
    sort part-?.csv | grep -v id,name | cmp - <(grep -v id,name t.csv | sort)
    petal shard -n 3 --csv name t.csv 2>&- | sed 's/^[0-9a-z]*\t//' | cmp - t.csv
    is "$(petal shard -n 3 --csv name t.csv 2>&- | head -n 1)" $'shard\tid,name'
    printf 'n%s\n\0' $(seq 1 200) | petal shard -n 3 -i 1 -0 | tr -d '\n' | tr '\0' '\n' |
        cmp - <(sed -n 's/.*"\(n[0-9]*\)$/\1/p' part-1.csv)
}

@test "-e gives a key, not a row" {
    printf 'id,name\n1,a\n' >t.csv
    petal build --csv id -o f.petal t.csv -e 7
    is "$(petal check --csv id f.petal -e 1 -e 7 -e 1,a)" $'1\n7'
    is "$(petal check --jsonl .a f.petal -e 1)" 1
}

# ---- packed files --------------------------------------------------------------------------------

@test "-z detects gzip and zstd by their first bytes, and reads other input unchanged" {
    needs_zstd
    seq 1 100000 >numbers
    head -n 50000 numbers >low
    gzip -c numbers >n.gz
    zstd -qc numbers >n.zst
    { gzip -c low; tail -n +50001 numbers | gzip -c; } >two.gz
    { zstd -qc low; tail -n +50001 numbers | zstd -qc; } >two.zst
    for file in numbers n.gz n.zst two.gz two.zst; do
        petal seen -z -p 1e-12 $file | cmp - numbers
        petal seen -z -p 1e-12 --threads 1 <$file | cmp - numbers
        dd if=$file bs=1 count=100000 status=none | petal seen -z -p 1e-12 - <$file | cmp - numbers
    done
    petal build -z -p 1e-12 -o f.petal n.gz
    petal check -z f.petal n.zst low n.gz | cmp - <(cat numbers low numbers)
    petal build -z --scheme counting -o c.petal n.gz n.zst
    is "$(petal info --json c.petal | field items)" 200000
    petal build -z --scheme counting --force -o c.petal <n.zst
    is "$(petal info --json c.petal | field items)" 100000
    printf '' | gzip >empty.gz
    for text in '' x '(' $'\x1f'; do is "$(printf %s "$text" | petal seen -z)" "$text"; done
    is "$(petal seen -z empty.gz n.gz | wc -l)" "$(petal seen n.gz -z | wc -l)"
}

@test "if a packed file is truncated or damaged, the rows before are processed, and one line reports it" {
    needs_zstd
    seq 1 200000 >numbers
    gzip -c numbers >n.gz
    zstd -qc numbers >n.zst
    petal build -p 1e-12 -o f.petal numbers
    for file in n.gz n.zst; do
        half=$(($(wc -c <$file) / 2))
        head -c $half $file >cut
        run -2 --separate-stderr petal check -z f.petal cut
        is "$stderr" "petal: cut: the packed data end too early; the file was cut off"
        cmp <(head -n "$(wc -l <<<"$output")" numbers) - <<<"$output"
        [ "$(wc -l <<<"$output")" -gt 10000 ]
        refuses "cut: the packed data end too early" petal build -z -o g.petal cut
        [ ! -e g.petal ]
        cp $file bad
        for at in 1 2 3 4; do flip bad $((half + at)) ff; done
        run -2 --separate-stderr petal check -z f.petal bad
        is "${#stderr_lines[@]}" 1
        contains "$stderr" "petal: bad: the ${file#n.}"
        contains "$stderr" "data are damaged"
        { cat $file; echo more; } >longer
        run -2 --separate-stderr petal check -z f.petal longer
        is "$stderr" "petal: longer: has other bytes after the packed data"
        cmp numbers - <<<"$output"
    done
    run -2 --separate-stderr petal add -z f.petal cut
    contains "${stderr_lines[1]}" "before that are in"
}

# ---- mistakes ------------------------------------------------------------------------------------

@test "invalid options are refused in one line" {
    set_of f.petal x
    printf 'id,name,email\n1,a,b\n' >t.csv
    refuses '-k 0: fields and columns are numbered from 1' petal check f.petal -k 0 t.csv
    refuses '-k 99999999999999999999: fields and columns are numbered from 1' petal check f.petal -k 99999999999999999999 t.csv
    refuses '-k x: not numbers of fields; write 2 or 1,3' petal check f.petal -k x t.csv
    refuses '-k 1,: ' petal check f.petal -k 1, t.csv
    refuses '-k 1-2: not numbers of fields' petal check f.petal -k 1-2 t.csv
    refuses '-k 2,1,2: names one twice' petal check f.petal -k 2,1,2 t.csv
    refuses '--csv id,id: names one twice' petal check f.petal --csv id,id t.csv
    refuses '--csv "id: a quoted field does not end' petal check f.petal --csv '"id' t.csv
    refuses '--csv : a name or a number is missing' petal check f.petal --csv '' t.csv
    refuses 'column 1 is named twice, in different ways' petal check f.petal --csv id,1 t.csv
    refuses '-t ab: takes one character' petal check f.petal -k 1 -t ab t.csv
    refuses '-t : takes one character' petal check f.petal -k 1 -t '' t.csv
    refuses '-t ": cannot separate fields' petal check f.petal --csv 1 -t '"' t.csv
    refuses '-t: goes with -k or --csv' petal check f.petal -t , t.csv
    refuses '--header: goes with --csv' petal check f.petal --header t.csv
    refuses '--strict: goes with -k, --csv, --jsonl, --words, --ngrams or --kmers' petal check f.petal --strict t.csv
    refuses 'give one of -k, --csv and --jsonl' petal check f.petal -k 1 --csv 1 t.csv
    refuses 'give one of -k, --csv and --jsonl' petal check f.petal --jsonl .a --csv 1 t.csv
    refuses '--csv reads lines; leave out --null' petal check f.petal -0 --csv 1 t.csv
    for path in '' a a.b .a. '.a[x]' '.a[' '.a[1' '."a' '.a b' .a, '.[-1]' '.a[99999999999999999999]'; do
        refuses "--jsonl $path: not a path" petal check f.petal --jsonl "$path" t.csv
    done
    refuses '--jsonl .a,.a: names one twice' petal check f.petal --jsonl .a,.a t.csv
    refuses 'at most 16 fields make a key' petal check f.petal -k "$(seq -s, 17)" t.csv
    refuses '-k needs N' petal check f.petal t.csv -k
}

@test "missing columns are named, with the most similar one, before anything is selected" {
    printf 'id,name,email\n1,a,b\n' >t.csv
    set_of f.petal x
    refuses 't.csv: has no column "emial" in its header; did you mean email?' petal check f.petal --csv emial t.csv
    refuses 't.csv: has no column "ID" in its header; it has id, name, email' petal check f.petal --csv ID t.csv
    refuses 'has no column "x" in its header; it has id, name, email' petal build --csv x -o g.petal t.csv
    [ ! -e g.petal ]
    seq -s, 20 >many.csv
    refuses 'it has 1, 2, 3, 4, 5, 6, 7, 8, ...' petal seen --csv x many.csv
    printf 'a,b,a\n' >twice.csv
    refuses 'twice.csv: has the column "a" twice; name it by its number, with --header' petal seen --csv a twice.csv
    printf 'a,"b\n1,2\n' >open.csv
    refuses 'open.csv: header: a quoted field does not end' petal seen --csv a open.csv
    printf '\xff\xfea\0,\0b\0\n\0' >wide.csv
    refuses 'wide.csv: is UTF-16; convert it: iconv' petal seen --csv a wide.csv
    printf 'id;name\n1;a\n' >other.csv
    hint="if fields are separated by ;, pass -t ';'"
    refuses "other.csv: has no column \"name\" in its header; it has id;name; $hint" petal seen --csv name other.csv
    run -0 --separate-stderr petal seen --csv 2 other.csv
    contains "$stderr" "petal: 2 rows without a key: passed on; $hint"
    run -0 --separate-stderr petal seen -t, -k 2 <<<$'a\tb'
    contains "$stderr" "passed on; if fields are separated by TAB, pass -t 'TAB'"
    run -0 --separate-stderr petal seen --csv 2 <<<$'a\nb,c'
    is "${stderr_lines[1]}" "petal: 1 row without a key: passed on"
    run -1 --separate-stderr petal check f.petal --csv 4 t.csv
    is "${stderr_lines[0]}" 'petal: t.csv: line 1: too few fields: "id,name,email"'
}

@test "if a quote is never closed, it includes the rest, which is passed on unchanged" {
    printf 'a,1\nb,"2\nc,3\n' >t.csv
    run -0 --separate-stderr petal seen --csv 1 t.csv
    printf '%s\n' "$output" | cmp - t.csv
    is "${stderr_lines[0]}" 'petal: t.csv: line 2: a quoted field does not end: "b,"2?c,3"'
    run -2 --separate-stderr petal seen --csv 1 --strict t.csv
    is "$output" a,1
    head -c -1 t.csv | petal seen --csv 1 2>&- | cmp - t.csv
}

@test "a field with a NUL byte is not a key, and the row is passed on" {
    printf 'a,1\nb\0,2\n"c",3\n"d\0",4\n' >t.csv
    petal seen --csv 2 t.csv 2>said | cmp - t.csv
    is "$(sed -n 1p said)" 'petal: t.csv: line 2: holds a NUL byte: "b"'
    contains "$(tail -n 1 said)" "2 rows without a key"
}

@test "if a filter in a pipe is truncated, it is refused, and no row is printed" {
    make_people
    petal build --csv id -o f.petal people.csv
    for bytes in 0 10 64 200; do
        run -2 --separate-stderr petal check - people.csv --csv id < <(head -c $bytes f.petal)
        is "$output" ""
        is "${#stderr_lines[@]}" 1
    done
}
