#!/usr/bin/env bats
# keys.bats - every byte of the input is read as documented: lines, NUL-separated keys, CR LF, and typed values.
load helper

# What the filter is asked about, byte for byte: key_of BYTES
holds() { printf '%s' "$2" | petal check -q "$1"; }

@test "a last line without a newline counts, an empty line is a key, and no input is no key" {
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

@test "the output ends its last line, also where the input did not" {
    printf 'a\nb' | petal build -o f.petal
    printf 'a\nb' | petal check f.petal | cmp - <(printf 'a\nb\n')
    printf 'a\nb' | petal seen | cmp - <(printf 'a\nb\n')
    printf 'a\0b' | petal check -0 f.petal | cmp - <(printf 'a\0b\0')
}

@test "keys are bytes: NUL, invalid UTF-8, tabs and carriage returns go in and come out" {
    printf 'a\0b\nx\xff\xfe\n\ttab \nreturn\r\n' >odd
    petal build -o f.petal -p 1e-9 odd
    petal check f.petal odd | cmp - odd
    petal seen odd | cmp - odd
    run -1 petal check f.petal -e a -e return -e tab
}

@test "-0 separates keys by NUL, in and out, so that keys may hold newlines" {
    printf 'one\ntwo\0three\0' >keys
    petal build -0 -o f.petal -p 1e-9 keys
    is "$(petal info --json f.petal | field items)" 2
    petal check -0 f.petal keys | cmp - keys
    petal seen -0 keys | cmp - keys
    petal check -q f.petal -e $'one\ntwo'
    run -1 petal check f.petal -e one
    is "$(petal check -0n f.petal keys | tr '\0\n' '|+')" '1:one+two|2:three|'
}

@test "--crlf takes the CR off the key and leaves it in the output" {
    printf 'a\r\nb\r\nc\n\r\nd\r' >dos
    petal build --crlf -o f.petal -p 1e-9 dos
    is "$(petal check -c f.petal -e a -e b -e c -e '' -e d)" 5
    printf 'a\r\nx\r\n' | petal check --crlf f.petal | cmp - <(printf 'a\r\n')
    run -0 petal check f.petal dos
    is "$output" c
    refuses "--crlf is for lines, --null for keys that are not lines" petal check -0 --crlf f.petal dos
}

@test "without --crlf the CR is part of the key" {
    printf 'a\r\n' | petal build -o f.petal -p 1e-9
    run -1 petal check -q f.petal -e a
    petal check -q f.petal -e $'a\r'
}

@test "a line may be longer than any buffer, and comes out whole" {
    { head -c 3000000 /dev/zero | tr '\0' x; echo; echo short; head -c 1048576 /dev/zero | tr '\0' y; } >long
    petal build -o f.petal -p 1e-9 long
    is "$(petal info --json f.petal | field items)" 3
    { cat long; echo; } >ended
    petal check f.petal long | cmp - ended
    cat long | petal seen | cmp - ended
}

@test "lines are the same whatever the pieces they arrive in" {
    seq 1000 >numbers
    petal build -o f.petal numbers
    { for i in $(seq 1 40); do sed -n "$((i * 25 - 24)),$((i * 25))p" numbers | head -c 40; sed -n "$((i * 25 - 24)),$((i * 25))p" numbers | tail -c +41; done; } |
        petal check f.petal | cmp - numbers
}

@test "i64 is 8 bytes and i32 4 bytes, little-endian, and leading zeros or signs do not matter" {
    printf '1\n-1\n0\n9223372036854775807\n-9223372036854775808\n' | petal build --key-type i64 -o f.petal -p 1e-9
    is "$(printf '0100000000000000\nffffffffffffffff\n0000000000000000\nffffffffffffff7f\n0000000000000080\n' |
        petal check --key-type hex -c f.petal)" 5
    is "$(petal check --key-type i64 -c f.petal -e 01 -e +1 -e -0)" 3
    printf '1\n-1\n2147483647\n-2147483648\n' | petal build --key-type i32 -o g.petal -p 1e-9
    is "$(printf '01000000\nffffffff\nffffff7f\n00000080\n' | petal check --key-type hex -c g.petal)" 4
}

@test "f64 is 8 bytes, -0 is 0, and every NaN is one key" {
    printf '1.5\n-0\nnan\n1e300\n0.1\n' | petal build --key-type f64 -o f.petal -p 1e-9
    is "$(printf '000000000000f83f\n0000000000000000\n000000000000f87f\n9a9999999999b93f\n' |
        petal check --key-type hex -c f.petal)" 4
    is "$(petal check --key-type f64 -c f.petal -e 0 -e -nan -e 1.50 -e 10e299 -e .1)" 5
}

@test "utf16le, hex and base64 stand for the bytes they mean" {
    printf 'a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb8\n' >text
    petal build --key-type utf16le -o f.petal -p 1e-9 text
    petal check --key-type hex -q f.petal -e 6100e400ac203cd838df
    petal check --key-type hex -q f.petal -e 6100E400AC203CD838DF
    petal check --key-type base64 -q f.petal -e YQDkAKwgPNg43w==
    petal check --key-type base64 f.petal -e YQDkAKwgPNg43w==
    printf 'foobar\nfooba\nfoob\n\n' | petal build -o g.petal -p 1e-9
    is "$(printf 'Zm9vYmFy\nZm9vYmE=\nZm9vYg==\n\n' | petal check --key-type base64 -c g.petal)" 4
    is "$(printf '666f6f626172\n666f6f6261\n\n' | petal check --key-type hex -c g.petal)" 3
}

# refused TYPE LINE REASON: the third line of a file
refused() {
    { printf '%s\n' "$4" "$4"; printf -- "$2\n"; } >input
    run -2 --separate-stderr petal build --key-type "$1" -o x.petal input
    contains "$stderr" "petal: input: line 3: $3"
    is "${#stderr_lines[@]}" 1
    [ ! -e x.petal ]
}

@test "a line that is no such value is an error that names file, line and reason" {
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

@test "the lines before one that is no value are still answered" {
    printf '1\n2\n3\n' | petal build --key-type i64 -o f.petal
    printf '1\nx\n3\n' >numbers
    run -2 --separate-stderr petal check --key-type i64 f.petal numbers
    is "$output" 1
    is "$stderr" 'petal: numbers: line 2: not a whole number: "x"'
}

@test "compressed input is taken as it is, with a warning" {
    echo text | gzip >text.gz
    run -0 --separate-stderr petal build -o f.petal text.gz
    contains "$stderr" "petal: text.gz: is compressed"
}
