#!/usr/bin/env bats
# formats.bats - petal formats lists the formats that --from and --to accept, and every listed
# format works.
load helper

names() { petal formats | sed 1d | cut -d' ' -f1; }

@test "formats lists the names that --from accepts, the same ones as text and as JSON" {
    is "$(names)" "$(petal formats --json | sed 's/.*"format":"\([^"]*\)".*/\1/')"
    run -2 petal info --from no-such-format some.file
    is "$(names | sort)" "$(sed 's/.*; there are //; s/ and /, /; s/, /\n/g' <<<"$output" | sort)"
}

@test "a format that can be created and written can be read again, and no other can be created" {
    for format in $(names); do
        line=$(petal formats --json | grep "\"format\":\"$format\"")
        contains "$line" '"read":true'
        if [[ $line == *'"create":true'* ]]; then
            run -0 petal create -n 100 -p 0.01 --to $format -o $format.out
            run -0 petal info --from $format $format.out
        else
            run -2 petal create -n 100 -p 0.01 --to $format -o $format.out
        fi
    done
}

@test "formats takes no file argument" {
    run -2 petal formats some.petal
    contains "$output" "takes no file"
}
