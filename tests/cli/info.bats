#!/usr/bin/env bats
# info.bats - petal info reports the same values to people, in rounded form, and to programs, in
# exact form.
load helper

# Checks that the input is exactly one JSON object as defined by RFC 8259.
is_json() {
    perl -0777 -e '$_ = <STDIN>; my $v; $v = qr/\s*(?:"(?:[^"\\\x00-\x1f]|\\(?:["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|\{(?:\s*|(??{$v}):(??{$v})(?:,(??{$v}):(??{$v}))*)\}|\[(?:\s*|(??{$v})(?:,(??{$v}))*)\])\s*/; exit !/^$v$/' || fail "not JSON"
}

@test "the filter of the URL list is described as in the documentation" {
    make_urls
    petal build -p 1% -o urls.petal urls.txt
    run -0 --separate-stderr petal info urls.petal
    is "$stderr" ""
    is_as_expected info-urls.txt
}

@test "--json has every field; an unknown value is null" {
    petal create -o f.petal --bits 512 --hashes 4
    run -0 petal info --json f.petal
    is_json <<<"$output"
    is "$output" '{"file":"f.petal","format":"petal","origin":"petal","scheme":"blocked","hash":"xxh3","bits":512,"hashes":4,"lines_per_key":1,"layers":1,"counter_bits":null,"bytes":64,"key_type":"text","capacity":null,"target_rate":null,"items":0,"bits_set":0,"fill":0,"saturated":false,"saturated_counters":null,"overfull":false,"estimated_items":0,"estimated_items_low":0,"estimated_items_high":0,"estimated_rate":0,"predicted_rate":null,"keyed":false,"secret_id":null,"seed":0,"policy":null,"content_id":"'"$(petal info --json f.petal | field content_id)"'","checksums":"match","metadata":null}'
    [[ $(field content_id <<<"$output") =~ ^[0-9a-f]{16}$ ]]
}

@test "a rate that can't be computed is unknown, or null in JSON: js-tutorial's hash determines it" {
    petal create --verbose --to js-tutorial -n 30 -p 0.01% -o f.bloom 2>made
    grep -q "an unknown rate of false positives at 30 keys" made
    seq 30 | petal add --from js-tutorial f.bloom
    petal info --from js-tutorial f.bloom | grep -q "^false positives   unknown now"
    run -0 petal info --from js-tutorial --json f.bloom
    is_json <<<"$output"
    is "$(field estimated_rate <<<"$output") $(field predicted_rate <<<"$output")" "null null"
    seq 1000 1999 >absent
    petal verify --from js-tutorial --absent absent f.bloom | grep -q "predicted unknown$"
    petal verify --from js-tutorial --absent absent --json f.bloom | is_json
}

@test "an overfull filter is reported as such, with both rates; repeats don't make a filter overfull" {
    petal create -o f.petal -n 1000 -p 1%
    for i in 1 2 3; do seq 1000 | petal add f.petal; done
    is "$(petal info --json f.petal | field overfull)" false
    ! petal info f.petal | grep overfull
    seq 1001 2000 | petal add f.petal 2>/dev/null
    is "$(petal info --json f.petal | field overfull)" true
    [[ $(petal info f.petal | grep ^overfull) =~ "more keys than planned: "1[0-9]" % false positives, not 1 %; plan a larger one" ]]
}

@test "integers above 2^53 are exact" {
    petal create -o f.petal -n 9007199254740993 --bits 512 --hashes 1 --seed 18446744073709551615
    is "$(petal info --json f.petal | field capacity)" 9007199254740993
    is "$(petal info --json f.petal | field seed)" 18446744073709551615
    run -0 petal info f.petal
    contains "$output" 9,007,199,254,740,993
}

@test "strings are escaped: quotes, control characters, newlines, invalid UTF-8" {
    name=$'a "b"\\\n\x01\xff\xc3\xa4.petal'
    petal create -o "$name" -n 10 --metadata $'\xc3\x28 "quoted"\t\xe2\x82\xac \xed\xa0\x80 \xf5 end\x7f'
    run -0 petal info --json "$name"
    is_json <<<"$output"
    contains "$output" '"file":"a \"b\"\\\n\u0001\ufffdä.petal"'
    contains "$output" '"metadata":"\ufffd( \"quoted\"\t€ \ufffd\ufffd\ufffd \ufffd end\u007f"'
    is "$(wc -l <<<"$output")" 1
}

@test "several files give one block or one JSON line each, and a bad file does not hide the others" {
    petal create -o a.petal -n 10
    petal create -o b.petal -n 20
    run -0 petal info --json a.petal b.petal
    is "${#lines[@]}" 2
    for line in "${lines[@]}"; do is_json <<<"$line"; done
    run -0 petal info a.petal b.petal
    is "$(grep -c '^fill' <<<"$output")" 2
    is "$(grep -c '^$' <<<"$output")" 1
    run -2 --separate-stderr petal info --json a.petal missing b.petal
    is "$(grep -c bits <<<"$output")" 2
    is "${#stderr_lines[@]}" 1
}

@test "the number of added keys includes repeats, and the bits show the distinct ones" {
    petal create -o f.petal -n 1000
    for i in 1 2 3; do seq 1000 | petal add f.petal; done
    run -0 petal info f.petal
    contains "$output" "3,000 added, with repeats; 1,000 planned"
    low=$(petal info --json f.petal | field estimated_items_low)
    high=$(petal info --json f.petal | field estimated_items_high)
    # The seed is 0, so the result never varies.
    awk -v l="$low" -v h="$high" 'BEGIN { exit !(l < 1000 && 1000 < h) }'
}

@test "all properties are shown: classic, two lines per key, seed, secret, metadata" {
    echo 000102030405060708090a0b0c0d0e0f >secret
    petal create -o f.petal -n 1000 -p 1e-6 --secret-file secret --metadata 'made by hand'
    run -0 petal info --secret-file secret f.petal
    [[ $output =~ "blocked, siphash with secret "[0-9a-f]{8}", k "[0-9]+" in 2 lines, " ]]
    contains "$output" "metadata          made by hand"
    is "$(petal info --secret-file secret --json f.petal | field keyed)" true
    is "$(petal info --secret-file secret --json f.petal | field seed)" null
    petal create -o c.petal --scheme classic --bits 11 --hashes 2 --seed 5
    run -0 petal info c.petal
    contains "$output" "classic, xxh3 with seed 5, k 2, 11 bits"
}

@test "if metadata can't be shown on a terminal safely, only its size is shown" {
    petal create -o f.petal -n 10 --metadata $'\x1b[31mred'
    run -0 petal info f.petal
    contains "$output" "metadata          8 bytes (petal info --metadata prints them)"
}

@test "without the secret, a keyed filter is described by its header" {
    echo 000102030405060708090a0b0c0d0e0f >secret
    seq 1000 | petal build -o f.petal -p 1% --secret-file secret --metadata 'by hand'
    run -0 --separate-stderr petal info f.petal
    is "$stderr" ""
    contains "$output" "petal 1, header intact; pass --secret-file to check the rest"
    contains "$output" "1,000 added; 1,000 planned"
    contains "$output" "1 % planned"
    contains "$output" "by hand"
    run -1 grep -q fill <<<"$output"
    for field in items capacity bits secret_id content_id metadata; do
        is "$(petal info --json f.petal | field $field)" \
            "$(petal info --json --secret-file secret f.petal | field $field)"
    done
    petal info --json f.petal | is_json
    is "$(petal info --json f.petal | field bits_set)" null
    is "$(petal info --json f.petal | field estimated_rate)" null
    is "$(petal info --metadata f.petal)" "by hand"
    petal create --grow -n 100 --secret-file secret -o g.petal
    is "$(petal info --json g.petal | field estimated_items)" null
    run -2 petal check f.petal -e 1
    run -2 petal verify f.petal
    echo 000102030405060708090a0b0c0d0e00 >secret
    refuses "the one given is" petal info --secret-file secret f.petal
}
