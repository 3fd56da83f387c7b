#!/bin/sh
# demo.sh BIN_DIR - shows what petal is for, on a real list of 58,240 web addresses.
#
# Every line that starts with $ is a command, which runs exactly as shown. The demo checks its
# claims, and uses `sort` and `awk` where an exact answer exists. If a claim is false, it prints
# WRONG and exits with status 1. Needs gzip and the tools of every POSIX system.
set -eu
[ $# -eq 1 ] || { echo "usage: demo.sh BIN_DIR (the folder that holds petal)" >&2; exit 2; }
[ -x "$1/petal" ] || { echo "demo: no petal in $1" >&2; exit 2; }
began=$(date +%s)
bin=$(cd "$1" && pwd)
data=$(cd "$(dirname "$0")/data" && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM
cd "$temp"
PATH=$bin:$PATH
LC_ALL=C
export PATH LC_ALL
wrong=0

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { # prints a command, and then runs it
    printf '$ %s\n' "$*"
    eval "$*"
}
claim() { # claim WORDS CONDITION: checks a condition, which is an awk expression
    awk "$tools BEGIN { exit !($2) }" || { printf 'WRONG: %s\n' "$1"; wrong=1; }
}
count() { wc -l <"$1" | tr -d ' '; }
bytes() { wc -c <"$1" | tr -d ' '; }
field() { # field NAME FILE: prints a number from the output of petal info --json
    petal info --json "$2" | sed -n "s/.*\"$1\": *\\([-+.0-9eE]*\\).*/\\1/p"
}

# Functions for awk. near() returns true if a count is within 5 standard deviations of the expected
# number of hits in `n` independent tries at rate `p`.
tools='
function comma(n,  tail) {
    for (n = "" n; length(n) > 3; n = substr(n, 1, length(n) - 3))
        tail = "," substr(n, length(n) - 2) tail
    return n tail
}
function percent(p) { return sprintf("%#.3g %%", 100 * p) }
function near(hits, n, p) { return (hits - n * p) ^ 2 <= 25 * n * p * (1 - p) }
'

gzip -dc "$data/urls.txt.gz" >stream.txt
sort -u stream.txt >urls.txt
sed 's/$/?no-such-page/' urls.txt | sort >absent.txt
paste -d '\n' urls.txt absent.txt >mixed.txt
listed=$(count urls.txt)
claim 'the made-up addresses are not on the list' "$(comm -12 urls.txt absent.txt | wc -l) == 0"
awk -v lines="$(count stream.txt)" -v listed="$listed" -v bytes="$(bytes urls.txt)" "$tools"'BEGIN {
    printf "A list of %s web addresses (examples/data/urls.txt.gz), of which %s\n", comma(lines), comma(listed)
    printf "are different: %s bytes of text.\n", comma(bytes)
}'

step '1. Put them into a filter: 1 % false positives, sized by what is there'
show petal build -p 1% -o urls.petal urls.txt
size=$(bytes urls.petal)
awk -v text="$(bytes urls.txt)" -v file="$size" "$tools"'BEGIN {
    printf "%s bytes became %s: %.0f times smaller.\n", comma(text), comma(file), text / file
}'

step '2. Query it: a mixed list, half of it on the list and half made up'
show 'petal check urls.petal mixed.txt > flagged.txt'
sort flagged.txt >flagged.sorted
missed=$(comm -23 urls.txt flagged.sorted | wc -l)
passed=$(comm -12 absent.txt flagged.sorted | wc -l)
rate=$(field estimated_rate urls.petal)
awk -v n="$listed" -v missed="$missed" -v passed="$passed" "$tools"'BEGIN {
    row = "%-9s %7s asked  %7s found   %s\n"
    printf row, "listed", comma(n), comma(n - missed), comma(missed) " missed: a filter never misses"
    printf row, "made up", comma(n), comma(passed), percent(passed / n) " false positives; 1 % was asked"
}'
claim 'no listed address is missed' "$missed == 0"
claim 'as many false positives as predicted' "near($passed, $listed, $rate)"

step '3. Remove duplicates from a stream without sorting or storing it'
show 'petal seen -n 30k -p 1% < stream.txt > fresh.txt'
fresh=$(count fresh.txt)
twice=$(sort fresh.txt | uniq -d | wc -l)
awk -v exact="$listed" -v fresh="$fresh" -v twice="$twice" "$tools"'BEGIN {
    printf "sort -u   %7s distinct lines\n", comma(exact)
    printf "petal     %7s passed on, %s of them twice\n", comma(fresh), comma(twice)
    printf "          %7s new ones taken for repeats (%s)\n", comma(exact - fresh), percent((exact - fresh) / exact)
}'
claim 'no line passes twice' "$twice == 0"
# The rate is below 1 % until the filter is full, so this bound is generous. Losing no line at all
# would also be a fault.
claim 'no more new lines are lost than promised' "$listed - $fresh > 0 && $listed - $fresh <= $listed * 0.01"

step '4. Look inside'
show petal info urls.petal

step '5. Is the promise kept? A million absent keys against each filter'
awk 'BEGIN { for (i = 0; i < 1000000; i++) print "https://absent.example/" i }' >million.txt
echo '$ petal build -p RATE --scheme SCHEME -o t.petal urls.txt'
echo '$ petal check -c t.petal million.txt'
printf 'scheme       asked    bits/key   predicted    measured\n'
for scheme in blocked classic; do
    for asked in 5% 1% 0.1% 0.01%; do
        # On a terminal, both commands would print messages in the middle of the table.
        petal build --force -p "$asked" --scheme "$scheme" -o t.petal urls.txt 2>said ||
            { cat said >&2; exit 1; }
        hits=$(petal check -c t.petal million.txt 2>said) || true
        rate=$(field estimated_rate t.petal)
        awk -v scheme="$scheme" -v asked="${asked%\%}" -v bits="$(field bits t.petal)" -v n="$listed" -v rate="$rate" \
            -v hits="$hits" "$tools"'BEGIN {
            printf "%-8s %7s %%  %10.2f  %10s  %10s\n", scheme, asked, bits / n, percent(rate), percent(hits / 1e6)
        }'
        claim "the measured rate of $scheme at $asked is the predicted one" "near($hits, 1000000, $rate)"
        claim "the predicted rate of $scheme at $asked is the one asked" "$rate < 1.1 * ${asked%\%} / 100"
    done
done
echo 'predicted: from the bits of each filter; measured: within 5 standard deviations'

[ $wrong -eq 0 ] || exit 1
seconds=$(($(date +%s) - began))
step "All of it was checked, in $seconds s. What next?"
cat <<EOF
the program          $1/petal
your own list        petal build -p 1% -o my.petal my-list.txt
how big?             petal plan -n 100M -p 1%
a false positive     $1/textbook
more to do with it   docs/cookbook.md
how it works         docs/primer.md
which numbers?       docs/choosing.md
the tests            ./dev test   (some minutes)
EOF
