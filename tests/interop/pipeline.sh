#!/bin/sh
# pipeline.sh - examples/pipeline works as described. Jobs that know nothing about Petal create
# Guava and Spark filters from the addresses in examples/data. In all seven languages, Petal gives
# the same answers for these filters as Guava and Spark, including the same false positives.
# Programs in seven languages create the same petal file, byte for byte, from 100,000 keys of three
# types. The programs in examples/ten-lines print the same output in all seven languages.
set -u
. tests/install/lib/tap.sh
needs cc python3 pip go javac mvn node clang wasm-ld wasi wasm-opt mcs mono cmake || finish
languages='c shell python go kotlin csharp node'
work=$TMPDIR/work
mkdir "$work"

# Builds each part of the pipeline from this tree. If a package is unreachable, the part is skipped
# with the reason.
prepare() { examples/pipeline/"$1"/prepare "$work/$1" >"$work/$1.said"; }
prepared=
for language in $languages pyspark; do
    mkdir "$work/$language"
    prepare "$language" 2>"$work/$language.err"
    case $? in
    0) prepared="$prepared $language" ;;
    77) skip "$language" "unreachable: $(tail -n 1 "$work/$language.said" | sed 's/.*unreachable: //')" ;;
    *) ok "examples/pipeline/$language is built" eval "tail -n 20 '$work/$language.err' && false" ;;
    esac
done
is_prepared() { case " $prepared " in *" $1 "*) ;; *) false ;; esac }

# ---- the filters of others -----------------------------------------------------------------------

# Adds every second address. The queries are all the addresses and the same number of unknown
# addresses.
gzip -dc examples/data/urls.txt.gz | LC_ALL=C sort -u >"$work/urls"
awk 'NR % 2' "$work/urls" >"$work/members"
awk '{ print; print $0 "?" }' "$work/urls" >"$work/asked"

# Checks that every member is found, and that most other keys are not found, but some are false
# positives.
telling() { # telling ANSWERS
    awk 'NR == FNR { member[$0]; next }
        FNR == 1 { file++ }
        file == 1 { asked[FNR] = $0; next }
        { if (asked[FNR] in member) missed += $0 != 1; else { others++; mistakes += $0 } }
        END {
            print missed + 0 " members missed, " mistakes " mistakes of " others
            exit !(FNR > 50000 && missed == 0 && mistakes > others / 200 && mistakes < others / 20)
        }' "$work/members" "$work/asked" "$1"
}
answers() { # answers LANGUAGE FORMAT: checks that this language gives the same answers as the
            # library
    "$work/$1/program" ask "$2" "$work/filter.$2" <"$work/asked" >"$work/$1.$2" &&
        cmp "$work/answers.$2" "$work/$1.$2"
}
library() { # library PROGRAM FORMAT WHAT
    ok "$3 makes a filter" "$1" make "$work/members" "$work/filter.$2" 0.02
    "$1" ask "$work/filter.$2" <"$work/asked" >"$work/answers.$2" 2>"$work/err.$2"
    ok "$3 answers, with some false positives" telling "$work/answers.$2"
    for language in $languages; do
        ! is_prepared $language || ok "$language answers for the filter of $3 as it does" answers $language "$2"
    done
}
! is_prepared kotlin || library "$work/kotlin/guava" guava 'a Kotlin job with Guava'
! is_prepared pyspark || library "$work/pyspark/spark" spark 'a PySpark job'

# ---- the same petal file -------------------------------------------------------------------------

awk 'BEGIN {
    for (i = 0; i < 40000; i++) printf "text\tk\303\251y-%d\n", i
    printf "text\t\ntext\t7\ntext\t\360\237\230\200\ntext\ta\tb\n"
    for (i = 0; i < 39993; i++) printf "i64\t%d\n", i * 7919 - 100000000
    print "i64\t-9223372036854775808"; print "i64\t9223372036854775807"; print "i64\t7"
    for (i = 0; i < 19990; i++) printf "f64\t%.3f\n", i / 8 + 1000
    print "f64\tNaN"; print "f64\t-0.0"; print "f64\t0.1"; print "f64\t5e-324"; print "f64\t7"
    print "f64\t1.7976931348623157e308"; print "f64\t-1e300"; print "f64\t2.5e-10"
    print "f64\t123456789.123456789"; print "f64\t1e22"
}' >"$work/sorted"
awk '{ line[NR] = $0 }
    END { for (i = 0; i < NR; i++) print line[i * 7919 % NR + 1] }' "$work/sorted" >"$work/keys"
shuffled() { LC_ALL=C sort "$work/sorted" >"$work/a" && LC_ALL=C sort "$work/keys" | cmp - "$work/a"; }
ok 'the keys are shuffled' shuffled
builds() { "$work/$1/program" build "$work/$1.petal" <"$work/keys"; }
for language in $languages; do
    is_prepared $language || continue
    ok "$language builds a petal file" builds $language
    ok "it is that of C, byte for byte" cmp "$work/c.petal" "$work/$language.petal"
done
holds() { petal info --json "$work/c.petal" | grep -qE '"items": *100000[ ,]'; }
ok 'it has all keys, and no key type' eval 'holds && ! petal info "$work/c.petal" | grep "key type"'

# ---- the ten lines -------------------------------------------------------------------------------

ten() {
    mkdir "$work/$1.ten" && (cd "$work/$1.ten" && "$work/$1/ten") >"$work/ten.got" &&
        tr 'TF' 'tf' <"$work/ten.got" | sed 's/ <nil>//' | tr '\n' ' ' | grep -x 'false true ' &&
        petal check -q "$work/$1.ten/seen.petal" -e https://example.com/
}
for language in $languages; do
    ! is_prepared $language || ok "the ten lines in $language" ten $language
done
finish
