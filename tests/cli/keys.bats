#!/usr/bin/env bats
# keys.bats - the tool interprets every byte of its input as documented, whether as lines,
# NUL-separated keys, CR LF line ends or typed values.
load helper

# holds FILE KEY: succeeds if the filter contains exactly these bytes as a key
holds() { printf '%s' "$2" | petal check -q "$1"; }

@test "a last line without a newline counts, an empty line is a key, and empty input has no key" {
    printf 'a\nb' | petal build -o f.petal -p 1e-9
    is "$(petal check -c f.petal -e a -e b)" 2
    is "$(petal info --json f.petal | field items)" 2
    run -1 petal check -q f.petal -e ''
    printf 'a\n\nb\n' | petal build --force -o f.petal -p 1e-9
    petal check -q f.petal -e ''
    is "$(petal info --json f.petal | field items)" 3
    printf '\n' | petal build --force -o f.petal -p 1e-9
    is "$(petal info --json f.petal | field items)" 1
    printf '' | petal build --force -o f.petal -p 1e-9
    is "$(petal info --json f.petal | field items)" 0
}

@test "lines of any length, at any place, have the numbers that grep prints" {
    needs python3
    python3 - <<'EOF'
import random
random.seed(27)
lengths = [*range(200), *[0] * 300, 4095, 4096, 262143, 262144, 1000000, *range(199, -1, -1)]
lines = [bytes(random.choices(b"abc\r\0\xff", k=n - 6)) + b"%06d" % i if n > 6
         else b"%d" % (i % 7) * n for i, n in enumerate(lengths)]
members = [line for line in lines[::3] if line]
open("all", "wb").write(b"\n".join(lines))
open("members", "wb").write(b"\n".join(members) + b"\n")
inside = set(members)
open("numbered", "wb").writelines(b"%d:%s\n" % (i + 1, line) for i, line in enumerate(lines) if line in inside)
EOF
    petal build -p 1e-12 -o f.petal members
    petal check -n f.petal all | cmp - numbered
    petal check --threads 1 -n f.petal <all | cmp - numbered
    tr '\n\0' '\0\n' <members | petal build -0 -p 1e-12 -o g.petal
    tr '\n\0' '\0\n' <all | petal check -0n g.petal | tr '\n\0' '\0\n' | cmp - numbered
}

@test "the output ends with a newline, even if the input did not" {
    printf 'a\nb' | petal build -o f.petal
    printf 'a\nb' | petal check f.petal | cmp - <(printf 'a\nb\n')
    printf 'a\nb' | petal seen | cmp - <(printf 'a\nb\n')
    printf 'a\0b' | petal check -0 f.petal | cmp - <(printf 'a\0b\0')
}

@test "keys are bytes: NUL, invalid UTF-8, tabs and carriage returns are kept" {
    printf 'a\0b\nx\xff\xfe\n\ttab \nreturn\r\n' >odd
    petal build -o f.petal -p 1e-9 odd
    petal check f.petal odd | cmp - odd
    petal seen odd | cmp - odd
    run -1 petal check f.petal -e a -e return -e tab
}

@test "-0 separates keys by NUL in input and output, so keys may contain newlines" {
    printf 'one\ntwo\0three\0' >keys
    petal build -0 -o f.petal -p 1e-9 keys
    is "$(petal info --json f.petal | field items)" 2
    petal check -0 f.petal keys | cmp - keys
    petal seen -0 keys | cmp - keys
    petal check -q f.petal -e $'one\ntwo'
    run -1 petal check f.petal -e one
    is "$(petal check -0n f.petal keys | tr '\0\n' '|+')" '1:one+two|2:three|'
}

@test "--crlf removes the CR from the key, and keeps it in the output" {
    printf 'a\r\nb\r\nc\n\r\nd\r' >dos
    petal build --crlf -o f.petal -p 1e-9 dos
    is "$(petal check -c f.petal -e a -e b -e c -e '' -e d)" 5
    printf 'a\r\nx\r\n' | petal check --crlf f.petal | cmp - <(printf 'a\r\n')
    run -0 petal check f.petal dos
    is "$output" c
    refuses "--crlf is for lines, --null for keys that are not lines" petal check -0 --crlf f.petal dos
}

@test "without --crlf, the CR is part of the key" {
    printf 'a\r\n' | petal build -o f.petal -p 1e-9
    run -1 petal check -q f.petal -e a
    petal check -q f.petal -e $'a\r'
}

@test "a line may be longer than any buffer, and is printed completely" {
    {
        head -c 3000000 /dev/zero | tr '\0' x
        printf '\nshort\n'
        head -c 1048576 /dev/zero | tr '\0' y
    } >long
    petal build -o f.petal -p 1e-9 long
    is "$(petal info --json f.petal | field items)" 3
    { cat long; echo; } >ended
    petal check f.petal long | cmp - ended
    cat long | petal seen | cmp - ended
}

@test "lines are the same however the input is split" {
    seq 1000 >numbers
    petal build -o f.petal numbers
    for i in $(seq 1 40); do
        sed -n "$((i * 25 - 24)),$((i * 25))p" numbers >lines
        head -c 40 lines
        tail -c +41 lines
    done | petal check f.petal | cmp - numbers
}

# same_keys TYPE LINES TYPE LINES: checks that both lists encode to the same key bytes, by comparing
# the bits of their filters.
same_keys() {
    printf "$2" | petal build --force -n 100 -p 1e-9 --key-type $1 -o one.petal
    printf "$4" | petal build --force -n 100 -p 1e-9 --key-type $3 -o other.petal
    is "$(petal info --json one.petal | field content_id)" "$(petal info --json other.petal | field content_id)"
}

@test "i64 is 8 bytes and i32 4 bytes, little-endian; leading zeros and signs don't matter" {
    printf '1\n-1\n0\n9223372036854775807\n-9223372036854775808\n' | petal build --key-type i64 -o f.petal -p 1e-9
    same_keys i64 '1\n-1\n0\n9223372036854775807\n-9223372036854775808\n' hex \
        '0100000000000000\nffffffffffffffff\n0000000000000000\nffffffffffffff7f\n0000000000000080\n'
    is "$(petal check --key-type i64 -c f.petal -e 01 -e +1 -e -0)" 3
    same_keys i32 '1\n-1\n2147483647\n-2147483648\n' hex '01000000\nffffffff\nffffff7f\n00000080\n'
}

@test "f64 is 8 bytes, -0 equals 0, and all NaNs are one key" {
    printf '1.5\n-0\nnan\n1e300\n0.1\n' | petal build --key-type f64 -o f.petal -p 1e-9
    same_keys f64 '1.5\n-0\nnan\n0.1\n' hex '000000000000f83f\n0000000000000000\n000000000000f87f\n9a9999999999b93f\n'
    is "$(petal check --key-type f64 -c f.petal -e 0 -e -nan -e 1.50 -e 10e299 -e .1)" 5
}

@test "create --key-type any makes a filter for keys of several types" {
    petal create --key-type any -n 100 -p 1e-9 -o f.petal
    run -1 grep -q 'key type' <(petal info f.petal)
    printf '7\n' | petal add --key-type i64 f.petal
    printf '7\n' | petal add --key-type f64 f.petal
    printf '7\n' | petal add f.petal
    is "$(petal info --json f.petal | field items)" 3
    for type in i64 f64 text; do petal check -q --key-type $type f.petal -e 7; done
    run -1 petal check -q --key-type i32 f.petal -e 7
    refuses "any" petal build --key-type any -o g.petal -n 10
}

@test "utf16le, hex and base64 stand for their bytes" {
    text='a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb8\n'
    same_keys utf16le "$text" hex 6100e400ac203cd838df
    same_keys utf16le "$text" base64 YQDkAKwgPNg43w==
    petal build --key-type hex -o f.petal -p 1e-9 <<<6100e400ac203cd838df
    petal check --key-type hex -q f.petal -e 6100e400ac203cd838df
    petal check --key-type hex -q f.petal -e 6100E400AC203CD838DF
    petal check --key-type base64 -q f.petal -e YQDkAKwgPNg43w==
    petal check --key-type base64 f.petal -e YQDkAKwgPNg43w==
    same_keys text 'foobar\nfooba\nfoob\n\n' base64 'Zm9vYmFy\nZm9vYmE=\nZm9vYg==\n\n'
    same_keys text 'foobar\nfooba\n\n' hex '666f6f626172\n666f6f6261\n\n'
}

# refused TYPE LINE REASON: checks that the tool rejects LINE as the third line of a file
refused() {
    { printf '%s\n' "$4" "$4"; printf -- "$2\n"; } >input
    run -2 --separate-stderr petal build --key-type "$1" -o x.petal input
    contains "$stderr" "petal: input: line 3: $3"
    is "${#stderr_lines[@]}" 1
    [ ! -e x.petal ]
}

@test "an invalid value is an error that names file, line and reason" {
    for wrong in '' x 1x ' 1' '1 ' 0x10 1.5 1e3 '1\0002' --1; do refused i64 "$wrong" "not a whole number" 1; done
    refused i64 9223372036854775808 "out of range" 1
    refused i32 2147483648 "out of range" 1
    refused i32 -2147483649 "out of range" 1
    for wrong in '' x 1,5 ' 1' '1e' '1.5.5'; do refused f64 "$wrong" "not a number" 1; done
    refused f64 1e999 "out of range" 1
    refused hex 123 "an odd number of hex digits" 12
    refused hex 12g4 "not hex digits" 12
    for wrong in 'Zm9' 'Zm9vYg=' 'Zm9vYh==' 'Zm9vYmF=' 'Zm-v' '====' 'Z===' 'Zm9v!'; do refused base64 "$wrong" "not base64" Zm9v; done
    for wrong in '\xff' '\xc3' '\xed\xa0\x80' '\xc0\x80' '\xf5\x80\x80\x80'; do refused utf16le "$wrong" "not valid UTF-8" a; done
}

@test "lines before an invalid value are still answered" {
    printf '1\n2\n3\n' | petal build --key-type i64 -o f.petal
    printf '1\nx\n3\n' >numbers
    run -2 --separate-stderr petal check --key-type i64 f.petal numbers
    is "$output" 1
    is "$stderr" 'petal: numbers: line 2: not a whole number: "x"'
}

@test "if a line with several columns is not a valid key, it is shown completely, with the way to select a column" {
    printf 'abc' >file
    sum=$(sha1sum file)
    petal build --key-type hex -o f.petal -e "${sum%% *}"
    refuses 'petal: standard input: line 1: not hex digits: "a9993e364706816aba3e25717850...d0d89d  file"; if the key is one of several columns, pass -k 1' \
        petal check f.petal <<<"$sum"
    is "$(petal check -k 1 f.petal <<<"$sum")" "$sum"
    refuses 'not a whole number: "7 x"; if the key is one of several columns, pass -k 1' petal build --key-type i64 -o x <<<'7 x'
    refuses 'an odd number of hex digits: "123"' petal check f.petal <<<123
    run -2 --separate-stderr petal check f.petal <<<'12 '
    is "$stderr" 'petal: standard input: line 1: not hex digits: "12 "'
}

@test "compressed input is read as it is, with a warning" {
    echo text | gzip >text.gz
    run -0 --separate-stderr petal build -o f.petal text.gz
    contains "$stderr" "petal: text.gz: is compressed"
    contains "$stderr" "pass -z"
}

@test "the key type is recorded, and used by default" {
    printf '0aff\n00\n' | petal build --key-type hex -o f.petal -p 1e-9
    is "$(petal info --json f.petal | field key_type)" hex
    contains "$(petal info f.petal)" $'\nkey type          hex\n'
    is "$(petal check -c f.petal -e 0aff -e 00)" 2
    is "$(petal check --key-type base64 -c f.petal -e Cv8= -e AA==)" 2
    petal add f.petal <<<ffff
    is "$(petal check -c f.petal -e FFFF)" 1
    is "$(printf 'ffff\nfffe\n' | petal seen -f f.petal)" fffe
    printf '0aff\nffff\n' >members
    petal verify f.petal --present members --absent <(echo 1234)
    petal create -o g.petal -n 100 --key-type i64 --scheme counting
    printf '1\n2\n' | petal add g.petal
    petal remove g.petal <<<01
    is "$(petal check g.petal -e 1 -e 2)" 2
    run -2 --separate-stderr petal add g.petal <<<x
    contains "$stderr" 'not a whole number: "x"'
}

@test "by default, a filter of the tool has text keys, or its template's key type" {
    petal create -o f.petal -n 100
    is "$(petal info --json f.petal | field key_type)" text
    petal seen -f s.petal --key-type i32 <<<1 >/dev/null
    is "$(petal info --json s.petal | field key_type)" i32
    petal build --key-type i64 -o i.petal -n 100 <<<1
    petal build --template i.petal -o j.petal <<<02
    is "$(petal info --json j.petal | field key_type)" i64
    is "$(petal check -c j.petal -e 2)" 1
    petal merge -o m.petal i.petal j.petal
    is "$(petal check m.petal -e 1 -e 2 | paste -sd' ')" "1 2"
}

@test "a key type other than the recorded one is refused" {
    petal build --key-type i64 -o f.petal -n 100 <<<1
    for command in "check f.petal" "add f.petal" "seen -f f.petal" "verify f.petal --present -"; do
        run -2 --separate-stderr petal $command --key-type i32 <<<1
        is "$stderr" "petal: f.petal: has keys of type i64, not i32; leave out --key-type"
        run -2 --separate-stderr petal $command --key-type text <<<1
        is "$stderr" "petal: f.petal: has keys of type i64, not text; leave out --key-type"
    done
    refuses "f.petal: has keys of type i64, not text" petal build --template f.petal --key-type text -o g.petal <<<1
    petal build -o g.petal -n 100 <<<1
    refuses "g.petal: cannot merge with f.petal: its keys are of type text, the others of type i64" petal merge -o m.petal f.petal g.petal
    refuses "keys are of type text" petal intersect -o m.petal f.petal g.petal
    is "$(petal check -c f.petal -e 1)" 1
    is "$(petal info --json f.petal | field items)" 1
}

@test "a file without a recorded key type accepts any, and convert keeps the recorded one" {
    petal build --to guava --key-type i64 -o f.guava -n 100 -p 1e-9 <<<1
    is "$(petal info --from guava --json f.guava | field key_type)" null
    petal convert --from guava f.guava f.petal
    is "$(petal info --json f.petal | field key_type)" null
    is "$(petal check --key-type i64 -c f.petal -e 1)" 1
    is "$(petal check --key-type hex -c f.petal -e 0100000000000000)" 1
    petal build --key-type i64 -o g.petal -n 100 <<<1
    petal convert g.petal h.petal
    is "$(petal info --json h.petal | field key_type)" i64
    petal build --scheme counting --key-type i64 -o c.petal -n 100 <<<1
    petal convert --to-scheme classic c.petal d.petal
    is "$(petal info --json d.petal | field key_type)" i64
}

@test "if all lines of a list end with CR, there is one hint" {
    printf 'a\r\nb\r\nc' >dos
    for command in "build --force -n 100 -o f.petal dos" "add f.petal dos" "check -c f.petal dos dos" "check f.petal" "seen -f f.petal dos" \
        "shard -n 2 dos" "build --force --scheme counting -o c.petal dos"; do
        run --separate-stderr petal $command <dos
        file=dos
        [ "$command" != "check f.petal" ] || file="standard input"
        is "$stderr" "petal: $file: every line ends in CR; if these are Windows line ends, pass --crlf"
        run --separate-stderr petal $command --crlf <dos
        is "$stderr" ""
    done
    printf 'a\r\nb\n' >mixed
    printf '\r\n\n' >>mixed
    run -0 --separate-stderr petal build --force -o f.petal mixed
    is "$stderr" ""
    run -0 --separate-stderr petal seen dos
    is "$stderr" ""
    run -0 --separate-stderr petal build --force -0 -o f.petal dos
    is "$stderr" ""
    printf 'a 1\r\nb 2\r\n' >dos
    run -0 --separate-stderr petal build --force -k 1 -o f.petal dos
    is "$stderr" "" # with -k 1, no key contains the CR
    for fields in 2 2,1 1,2; do
        run -0 --separate-stderr petal build --force -k $fields -o f.petal dos
        contains "$stderr" "every line ends in CR"
    done
    printf '1\r\n2\r\n' >dos
    run -2 --separate-stderr petal build --force --key-type i64 -o f.petal dos
    contains "$stderr" "every line ends in CR"
}

@test "if a filter can't have the empty key, it is skipped and counted, and one message says so" {
    printf 'a\n\nb\n\n\n' >blank
    hint="3 empty keys skipped: datasketches filters do not accept them"
    run -0 --separate-stderr petal build --to datasketches -o f.ds -n 1000 blank
    is "$stderr" "petal: f.ds: $hint"
    run -0 --separate-stderr petal build --force --to datasketches -o f.ds blank
    is "$stderr" "petal: f.ds: $hint"
    petal build --to datasketches -p 1e-9 -o counted.ds blank # sized by counting the added keys
    petal build --to datasketches -p 1e-9 -o two.ds <<<$'a\nb'
    cmp counted.ds two.ds
    run -0 --separate-stderr petal add --from datasketches f.ds blank
    is "$stderr" "petal: f.ds: $hint"
    run -0 --separate-stderr petal check --from datasketches f.ds blank
    is "$output$stderr" $'a\nb'
    run -0 --separate-stderr petal seen --from datasketches -f f.ds blank
    is "$stderr" "petal: f.ds: $hint"
    run -0 --separate-stderr petal build -o f.petal blank
    is "$stderr" ""
    is "$(petal check -c f.petal blank)" 5
    { seq 100000; echo; seq 100001 200000; } |
        petal build --to datasketches --force -o f.ds -n 200k 2>message
    is "$(cat message)" "petal: f.ds: 1 empty key skipped: datasketches filters do not accept them"
    is "$(seq 200000 | petal check --from datasketches -c f.ds)" 200000
}

@test "a last line without its newline causes no hint about CR" {
    petal create -o f.petal -n 1000
    for text in abc "" 'abc\r' 'a\nb'; do
        run -0 --separate-stderr petal add f.petal < <(printf "$text")
        is "$stderr" ""
    done
}

@test "every command that takes keys accepts -e, and then does not read standard input" {
    petal build --force -o f.petal -e a -e b <&-
    is "$(petal check f.petal -e a -e b -e c)" $'a\nb'
    petal add f.petal -e c
    is "$(petal check f.petal -e c)" c
    is "$(petal seen -e x -e y -e x)" $'x\ny'
    is "$(petal shard -n 4 -e x -e y | cut -f2 | paste -sd' ')" "x y"
    petal build --force --scheme counting -o c.petal -e a -e b
    petal remove c.petal -e a
    is "$(petal check c.petal -e a -e b)" b
    petal build --force --to guava -o f.guava -e a -e b <&-
    is "$(petal check --from guava f.guava -e a -e z)" a
    echo z | petal build --force -o f.petal -e a -
    is "$(petal check f.petal -e a -e z)" $'a\nz'
}

@test "a filter in place of a key file is refused, and so is a key file in place of a filter, with advice" {
    petal build --force -o f.petal -e a
    refuses "f.petal: is a filter, not a list of keys; to remember what was seen in it: petal seen -f" petal seen f.petal
    refuses "f.petal: is a filter, not a list of keys" petal check f.petal f.petal
    refuses "https://example.com/: cannot open it: No such file or directory; if it is a key, pass it with -e" \
        petal check f.petal https://example.com/
}

@test "on a terminal, check says how many keys it found" {
    petal build --force -o f.petal -e a
    run -0 --separate-stderr petal check --verbose f.petal -e a -e b
    is "$output" a
    is "$stderr" "petal: 1 of 2 keys probably in the filter"
    run -0 --separate-stderr petal check --verbose -v f.petal -e a -e b
    is "$stderr" "petal: 1 of 2 keys certainly not in the filter"
}

@test "names of types are accepted in upper and lower case" {
    petal build --force --to GUAVA --key-type TEXT -o f.guava -e a
    is "$(petal check --from Guava f.guava -e a)" a
    petal create --force -n 100 --scheme Classic -o f.petal
    contains "$(petal info f.petal)" classic
}
