#!/usr/bin/env bats
# help.bats - every help text fits on a screen, and the manual page and completions contain every
# command and option.
load helper

commands() { petal help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^petal'; }

# Prints the options that a command's help lists by name only, without a description.
named_options() {
    petal help "$1" | sed -n '/^  --[a-z-]*\( --\|:\)/p' | grep -o -e '--[a-z-]*'
}

# Prints a command's long options, including --help. A command's help lists the key options by name
# only.
options_of() {
    {
        petal help "$1" | grep -o '^  [ -].. *--[a-z-]*' | grep -o -e '--[a-z-]*'
        named_options "$1"
        echo --help
    } | sort
}

@test "the overview is as expected, on stdout if requested, otherwise on stderr with status 2" {
    run -0 --separate-stderr petal help
    is "$stderr" ""
    is_as_expected help.txt
    overview=$output
    for ask in --help -h; do is "$(petal $ask)" "$overview"; done
    run -2 --separate-stderr petal
    is "$output" ""
    is "$stderr" "$overview"
}

@test "there are twenty-one commands" {
    is "$(commands | tr '\n' ' ')" "plan create build add remove check which index seen info verify merge intersect fold compare diff patch shard convert formats bench "
}

@test "the help of every command fits 24 lines of 80 columns, and has an example" {
    for command in $(commands); do
        help=$(petal help $command)
        is "$(petal $command --help)" "$help"
        is "$(petal $command -h)" "$help"
        [ "$(wc -l <<<"$help")" -le 24 ] || fail "petal help $command: too many lines"
        ! awk 'length > 80' <<<"$help" | grep . || fail "petal help $command: too wide"
        contains "$help" "usage: petal $command "
        contains "$help" "example: "
    done
    [ "$(petal help | wc -l)" -le 24 ]
}

@test "petal help keys explains keys, and has the options of all commands that read keys" {
    help=$(petal help keys)
    [ "$(wc -l <<<"$help")" -le 24 ] && ! awk 'length > 80' <<<"$help" | grep . || fail "too much"
    for command in add build check remove seen shard verify; do
        for option in $(named_options $command); do
            contains "$help
$(petal help words)" "$option"
        done
    done
    contains "$(petal help check)" "--key --fields --delimiter --csv"
    contains "$help" 'JSON, 1 and "1" are one key, and 1.0 and 1e0 are two others'
    run -0 petal seen --jsonl .a < <(printf '{"a":%s}\n' 1 '"1"' 1.0 1e0 '"1.0"')
    is "$(tr -dc '0-9.e\n' <<<"$output" | paste -sd' ')" "1 1.0 1e0"
}

@test "petal help words has the options for several keys per row" {
    help=$(petal help words)
    [ "$(wc -l <<<"$help")" -le 24 ] || fail "too many lines"
    ! awk 'length > 80' <<<"$help" | grep . || fail "too wide"
    for command in add build check seen which; do
        contains "$(petal help $command)" "--words --ngrams --kmers --canonical --ignore-case"
    done
    for command in check seen; do contains "$(named_options $command | paste -sd' ')" "--min"; done
    contains "$(petal help which)" "--min SHARE           filters that may have that share of all keys: 80%"
    contains "$help" "--min SHARE           the share of a row's keys that must be found"
}

@test "-V and version mean --version, and common other names of commands lead to ours" {
    is "$(petal -V)" "$(petal --version)"
    is "$(petal version)" "$(petal --version)"
    refuses "no command contains; here it is check; see petal help check" petal contains f
    refuses "no command union; here it is merge; see petal help merge" petal union f
}

@test "--version prints the version of petal.h and the optional parts" {
    version=$(sed -n 's/#define PETAL_VERSION_[MP][A-Z]* \([0-9]*\)/\1/p' "$PETAL_ROOT/include/petal/petal.h" | paste -sd.)
    run -0 petal --version
    is "${lines[0]}" "petal $version"
    formats=$(petal formats --json | grep -c .)
    grep -Eqx "$formats formats, with(out)? zlib, with(out)? zstd; [a-z0-9]+ on this CPU" <<<"${lines[1]}" ||
        fail "${lines[1]}"
}

@test "the manual page describes every command and option" {
    page=$(sed 's/\\-/-/g' "$PETAL_ROOT/docs/man/petal.1")
    for command in $(commands); do
        contains "$page" "petal $command"
        for option in $(options_of $command); do
            grep -Eq -e "Fl -${option#--}( |\$)" <<<"$page" || fail "petal.1 has no $option of $command"
        done
    done
}

@test "mandoc finds no mistake in the manual page" {
    needs mandoc
    run mandoc -T lint -W warning "$PETAL_ROOT/docs/man/petal.1"
    is "$output" ""
}

@test "man finds no mistake in the manual page" {
    needs man groff
    run -0 --separate-stderr man --warnings -l "$PETAL_ROOT/docs/man/petal.1"
    is "$stderr" ""
    contains "$output" "PETAL(1)"
}

# Removes the backspace sequences that make text bold or underlined.
plain() { sed "s/.$(printf '\b')//g"; }

@test "examples in the manual page print exactly as they must be typed" {
    needs man mandoc groff
    sed -n 's/^\.Dl //p' "$PETAL_ROOT/docs/man/petal.1" | sed 's/\\&//g; s/\\-/-/g; s/\\e/\\/g; s/\\(aq/'"'"'/g; s/\\(dq/"/g' >typed
    [ "$(wc -l <typed)" -gt 15 ]
    echo "awk '!s[\$0]++'" >>typed
    for language in C C.UTF-8; do
        LC_ALL=$language MANWIDTH=200 man -l "$PETAL_ROOT/docs/man/petal.1" | plain >read.man
        LC_ALL=$language mandoc -O width=200 "$PETAL_ROOT/docs/man/petal.1" | plain >read.mandoc
        for page in read.man read.mandoc; do
            while read -r line; do
                tr -s ' \t' ' ' <$page | grep -qF -e "$line" || fail "$language $page: no $line"
            done <typed
        done
    done
}

# bash_offers WORD...: prints the completions that bash offers for the last WORD.
bash_offers() {
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petal; printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$PETAL_ROOT/cli/completions/petal.bash" "$@" | sort
}

format_names() { petal formats --json | sed 's/.*"format":"\([^"]*\)".*/\1/' | sort; }

@test "bash completes commands, their options, values and files" {
    is "$(bash_offers petal '' | grep -v -e -- | paste -sd' ')" "$({ commands; echo help; } | sort | paste -sd' ')"
    is "$(bash_offers petal ver)" verify
    for command in $(commands); do is "$(bash_offers petal $command --)" "$(options_of $command)"; done
    is "$(bash_offers petal build --scheme '' | paste -sd' ')" "blocked classic counting static"
    is "$(bash_offers petal build --scheme = c)" $'classic\ncounting'
    is "$(bash_offers petal check f --key-type i)" $'i32\ni64'
    is "$(bash_offers petal create -n '')" ""
    is "$(bash_offers petal check --from '')" "$(format_names)"
    touch some.petal
    is "$(bash_offers petal check some)" some.petal
    is "$(bash_offers petal check -n some)" some.petal
    is "$(bash_offers petal help me)" merge
}

@test "zsh completes the options of every command" {
    needs zsh
    zsh_offers() {
        zsh -f -c '_arguments() { print -rl -- "$@" }; _describe() { print -rl -- ${(P)2} }
            words=(petal "$2" ""); CURRENT=$(($3)); . "$1"' zsh "$PETAL_ROOT/cli/completions/_petal" "$1" "$2"
    }
    is "$(zsh_offers '' 2 | cut -d: -f1 | sort | paste -sd' ')" "$({ commands; echo help; } | sort | paste -sd' ')"
    for command in $(commands); do
        is "$(zsh_offers $command 3 | sed 's/\[.*//' | grep -o -e '--[a-z-]*' | sort -u)" "$(options_of $command)"
    done
    is "$(zsh_offers build 3 | sed -n 's/^--to=.*:format:(\(.*\))$/\1/p' | tr -s ' ' '\n' | grep . | sort)" "$(format_names)"
}

@test "fish completes commands and their options" {
    needs fish
    fish_offers() {
        HOME=$PWD fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$PETAL_ROOT/cli/completions/petal.fish" "$1" | cut -f1
    }
    is "$(fish_offers 'petal ' | sort | paste -sd' ')" "$({ commands; echo help; } | sort | paste -sd' ')"
    for command in $(commands); do
        is "$(fish_offers "petal $command --" | sed 's/=$//' | sort)" "$(options_of $command)"
    done
    is "$(fish_offers 'petal build --scheme ' | paste -sd' ')" "blocked classic counting static"
    is "$(fish_offers 'petal build --to ' | sort)" "$(format_names)"
}
