#!/usr/bin/env bats
# words.bats - tests several keys per row: the tool splits rows into the same words, word runs and
# character runs as an independent program, byte for byte, and prints rows according to the share of
# their keys that are found.
load helper

reference() { python3 "$PETAL_ROOT/tests/cli/lib/row_keys.py" "$@"; }

# Writes NUL-separated rows of arbitrary bytes: ASCII and UTF-8 words, invalid UTF-8, DNA, blanks
# and newlines.
make_rows() {
    python3 - >rows <<'EOF'
import random, sys
random.seed(2727)
pieces = [b"GET", b"get", b"Get_1", b"req-9f3c", b" ", b"  ", b"\t", b"\n", b"\r\n", b"-", b"--", b"_", b"0", b"7",
          "ä".encode(), "中文".encode(), "😀".encode(), b"\xff", b"\xe2\x82", b"\xf0\x9f", b"\xed\xa0\x80", b"\xc0\x80",
          b"ACGT", b"acgtn", b"GATTACA", b"N", b"@", b"[", b"`", b"{", b"/", b":"]
for row in range(3000):
    sys.stdout.buffer.write(b"".join(random.choices(pieces, k=random.randrange(30))) + b"\0")
sys.stdout.buffer.write(b"longword" * 40000 + b" " + b"ab " * 30000 + b"ACGGT" * 30000 + b"\0")
EOF
}

# same_keys UNIT LENGTH "lower" or "" OPTION...: checks that a filter built from the rows contains
# exactly the keys that the reference program prints.
same_keys() {
    local unit=$1 length=$2 lower=$3
    shift 3
    reference "$unit" "$length" $lower <rows | LC_ALL=C sort -zu >expected
    petal build --force -0 -p 1e-12 -o f.petal "$@" rows 2>/dev/null
    is "$(petal info --json f.petal | field items)" "$(tr -dc '\0' <expected | wc -c)"
    petal check -0 f.petal expected | cmp - expected
}

@test "words, n-grams and k-mers equal those of another program, byte for byte" {
    needs python3
    make_rows
    same_keys WORDS 1 "" --words
    same_keys WORDS 1 lower --words -i
    same_keys WORDS 1 "" --ngrams 1
    same_keys WORDS 3 "" --ngrams 3
    same_keys WORDS 2 lower --ngrams 2 --ignore-case
    same_keys CHARACTERS 1 "" --kmers 1
    same_keys CHARACTERS 5 "" --kmers 5
    same_keys CHARACTERS 4 lower --kmers 4 -i
    same_keys BASES 4 "" --kmers 4 --canonical
    same_keys BASES 7 "" --kmers 7 --canonical
}

@test "the examples of petal help words work" {
    printf '%s\n' 'GET /a?id=7' >log
    petal build --ngrams 2 -p 1e-9 -o f.petal log
    is "$(petal check f.petal -e 'GET a' -e 'a id' -e 'id 7' -e GET -e 'GET /a' | paste -sd,)" "GET a,a id,id 7"
    printf 'ACGTN\n' | petal build --force --kmers 3 --canonical -p 1e-9 -o f.petal
    is "$(petal check f.petal -e ACG -e CGT -e GTN | paste -sd,)" ACG
    is "$(petal check --kmers 3 --canonical f.petal -e cgt -e AcG -e NACGN -e ACT | paste -sd,)" cgt,AcG,NACGN
}

@test "every kind of filter gets the same keys, with any number of threads, counted or not" {
    needs python3
    make_rows
    reference WORDS 2 <rows | LC_ALL=C sort -zu >expected
    count=$(tr -dc '\0' <expected | wc -c)
    for options in "-n $count -p 1e-9" "--scheme static" "--scheme counting" "--to guava" "--threads 1" \
        "--scheme classic -n 1k" "--bits 16M --hashes 9"; do
        petal build --force -0 --ngrams 2 -o f.petal $options rows 2>/dev/null
        from=
        [[ $options != *guava* ]] || from="--from guava"
        petal check -0 $from f.petal expected | cmp - expected
    done
    petal build --force -0 --ngrams 2 -p 1e-9 -o f.petal rows 2>/dev/null
    for bytes in 4Ki 64Ki; do
        export PETAL_COUNT_MEMORY=$bytes
        petal build --force -0 --ngrams 2 -p 1e-9 -o g.petal rows 2>/dev/null
        unset PETAL_COUNT_MEMORY
        petal check -0 g.petal expected | cmp - expected
    done
    petal create --force -p 1e-9 -n "$count" -o g.petal
    petal add -0 --ngrams 2 g.petal rows 2>/dev/null
    petal check -0 g.petal expected | cmp - expected
    for threads in 1 3; do
        petal check -0 --ngrams 2 --threads $threads f.petal rows 2>/dev/null >"out.$threads"
    done
    cmp out.1 out.3
    [ -s out.1 ]
}

@test "check prints a row if at least --min of its keys are found; a key counts as often as it occurs" {
    printf '%s\0' a b c | petal build -0 -p 1e-12 -o f.petal
    printf '%s\n' 'a b c' 'a b c x' 'a a a x x' 'x y z a' 'x' 'A B' >rows
    is "$(petal check --words f.petal rows)" "a b c"
    is "$(petal check --words --min 100% f.petal rows)" "a b c"
    is "$(petal check --words --min 75% f.petal rows | paste -sd,)" "a b c,a b c x"
    is "$(petal check --words --min 0.6 f.petal rows | paste -sd,)" "a b c,a b c x,a a a x x"
    is "$(petal check --words --min 60.1% f.petal rows | paste -sd,)" "a b c,a b c x"
    is "$(petal check --words --min 25% -c f.petal rows)" 4
    is "$(petal check --words -i -n f.petal rows | paste -sd,)" "1:a b c,6:A B"
    is "$(petal check --words -v --min 25% f.petal rows | paste -sd,)" "x,A B"
    run -1 petal check -q --words f.petal -e 'a x'
    run -0 petal check -q --words f.petal -e 'c,a'
    run -0 --separate-stderr petal check --words --verbose f.petal rows
    contains "$stderr" "1 of 6 rows probably in the filter"
}

@test "seen drops a row if its keys were seen, and remembers only the keys of the other rows" {
    printf '%s\n' 'a b' 'b a a' 'c' 'a b c' 'c d' 'd' 'd e' 'e x y' 'x' >rows
    is "$(petal seen --words rows | paste -sd,)" "a b,c,c d,d e,e x y"
    is "$(petal seen --words -d rows | paste -sd,)" "b a a,a b c,d,x"
    # Half of the keys in 'c d' were seen before, so the row is dropped and d is not remembered. The
    # row 'd' is therefore new.
    is "$(petal seen --words --min 50% rows | paste -sd,)" "a b,c,d,e x y"
    petal seen --words -p 1e-9 -f s.petal rows >/dev/null
    is "$(petal check s.petal -e a -e b -e c -e d -e e -e x -e y -e 'a b' | paste -sd,)" a,b,c,d,e,x,y
    is "$(petal seen --words -f s.petal -e 'y a x' -e 'y z' | paste -sd,)" "y z"
    run -0 --separate-stderr petal seen --words --verbose rows
    contains "$stderr" "9 read, 5 new, 4 repeats"
    # Without --min, the reported rate applies to lines. With --min, a dropped line may contain new
    # keys, so the rate applies to keys.
    contains "$stderr" "at most 1 % of new lines are dropped"
    run -0 --separate-stderr petal seen --words --min 50% --verbose rows
    contains "$stderr" "at most 1 % of new keys count as seen"
}

@test "seen and add use several keys per row in a window of time" {
    printf '%s\t%s\n' 2024-01-01T00:00:00Z 'a b' 2024-01-01T00:00:10Z 'b a' 2024-01-01T01:59:00Z c \
        2024-01-01T02:00:00Z 'a b' >rows
    is "$(petal seen -k2 -t TAB --time-field 1 --words --window 1h -f t.petal <rows | cut -f2 | paste -sd,)" "a b,c,a b"
    petal create --window 1h -n 1000 -p 1e-9 -o w.petal
    petal add -k2 -t TAB --time-field 1 --words w.petal <rows
    is "$(petal check --now 2024-01-01T02:30:00Z w.petal -e a -e b -e c -e 'a b' | paste -sd,)" a,b,c
    is "$(petal check --now 2024-01-01T03:30:00Z w.petal -e a -e c -e x | paste -sd,)" ""
}

@test "which prints a row and the filters with all its keys; -c and --min count keys, -l prints names" {
    printf '%s\n' 'a b c' | petal build --words -p 1e-12 -o 1.petal
    printf '%s\n' 'c d' | petal build --words -p 1e-9 --seed 7 -o 2.petal
    printf '%s\n' 'a d' | petal build --words -p 1e-12 --scheme classic -o 3.petal
    printf '%s\n' 'a c' 'c' 'd b' 'x' 'a d' 'b' >rows
    is "$(petal which --words ?.petal -- rows)" "$(printf 'a c\t1.petal\nc\t1.petal\t2.petal\na d\t3.petal\nb\t1.petal')"
    is "$(petal which --words -c ?.petal -- rows)" "$(printf '1.petal\t6\n2.petal\t4\n3.petal\t4')"
    is "$(petal which --words --min 60% ?.petal -- rows)" 1.petal
    is "$(petal which --words -l ?.petal -e 'a c' | paste -sd,)" 1.petal
    is "$(petal which --words -l ?.petal -e 'd c' -e 'd a' | paste -sd,)" 2.petal,3.petal
    is "$(petal which --words --min 50% --json 1.petal -e 'a x' | field of)" 2
    run -1 petal which --words ?.petal -e 'b d'
    # Uses more filters than a machine word has bits, and more rows than a slice can hold. The
    # answers must be the same as for one filter at a time.
    for i in $(seq 1 70); do printf 'w%d w%d\n' "$i" $((i + 1)); done >lines
    for i in $(seq 1 70); do sed -n "${i}p" lines | petal build --words -p 1e-9 -o "w$(printf %02d "$i").petal"; done
    is "$(petal which --words w*.petal -- lines | awk -F'\t' '{ print NF }' | sort -u)" 2
    is "$(petal which --words w*.petal -e w7 -e 'w70 w71' | paste -sd,)" "$(printf 'w7\tw06.petal\tw07.petal,w70 w71\tw70.petal')"
    is "$(petal which --words -l w*.petal -- lines | wc -l)" 70
}

@test "rows without a key: check does not find them, seen passes them on, build leaves them out" {
    printf '%s\n' 'ab' '' '--' 'abc' >rows
    run -0 --separate-stderr petal build --kmers 3 -o f.petal rows
    contains "$stderr" "line 1: has fewer characters than --kmers"
    contains "$stderr" "3 rows without a key: left out"
    is "$(petal info --json f.petal | field items)" 1
    is "$(petal check --kmers 3 f.petal rows 2>/dev/null)" abc
    is "$(petal check --kmers 3 -vn f.petal rows 2>/dev/null | paste -sd,)" "1:ab,2:,3:--"
    is "$(petal seen --words rows rows 2>/dev/null | paste -sd,)" "ab,,--,abc,,--"
    refuses 'rows: line 2: has no word: ""' petal check --words --strict f.petal rows
    refuses 'rows: line 1: has fewer words than --ngrams: "ab"' petal build --ngrams 2 --strict -o g.petal rows
    run -0 --separate-stderr petal build --force --kmers 2 --canonical -o f.petal -e ANTN -e ACN
    contains "$stderr" "has no k-mer of A, C, G and T"
    is "$(petal info --json f.petal | field items)" 1
}

@test "with CR LF, NUL, fields, CSV and JSON, only the field has keys" {
    printf 'one two\r\nthree\r\n' >dos
    petal build --crlf --kmers 5 -p 1e-9 -o f.petal dos
    is "$(petal check f.petal -e three -e $'hree\r' -e $'e two' | paste -sd,)" "three,e two"
    petal check --crlf --kmers 5 f.petal dos | cmp - dos
    printf 'one\ntwo\0three\0' >nul
    petal build --force -0 --kmers 7 -p 1e-9 -o f.petal nul
    petal check -0 f.petal -e $'one\ntwo' | cmp - <(printf 'one\ntwo\0')
    printf '%s\n' 'id,text' '1,"red ""fox"", lazy"' '2,blue' >t.csv
    petal build --force --csv text --words -p 1e-9 -o f.petal t.csv
    is "$(petal check f.petal -e red -e fox -e lazy -e blue -e 1 -e id | paste -sd,)" red,fox,lazy,blue
    is "$(petal check --csv text --words f.petal t.csv | wc -l)" 3
    printf '%s\n' '{"m":"caf\u00e9 au lait","n":5}' >t.jsonl
    petal build --force --jsonl .m --words -p 1e-9 -o f.petal t.jsonl
    is "$(petal check f.petal -e café -e au -e lait -e 5 -e m | paste -sd,)" café,au,lait
    printf 'k1\tA B\nk2\tC\n' >t.tsv
    petal build --force -k2 -t TAB --words -i -p 1e-9 -o f.petal t.tsv
    is "$(petal check f.petal -e a -e b -e c -e A -e k1 | paste -sd,)" a,b,c
}

@test "options that contradict each other or make no sense are refused in one line" {
    echo a >a
    petal build -o f.petal a
    refuses "give one of --words, --ngrams and --kmers" petal check --words --kmers 3 f.petal a
    refuses "give one of --words, --ngrams and --kmers" petal seen --ngrams 2 --words a
    refuses "--kmers 0: at least 1 is needed" petal build --kmers 0 -o g.petal a
    refuses "--ngrams 0: at least 1 is needed" petal which --ngrams 0 f.petal -e a
    refuses "--kmers: 1,001 is too long; at most 1,000" petal build --kmers 1001 -o g.petal a
    refuses "--ngrams: 18,446,744,073,709,551,615 is too long" petal seen --ngrams 18446744073709551615 a
    refuses "--ngrams" petal seen --ngrams -1 a
    refuses "--canonical: goes with --kmers" petal check --canonical --words f.petal a
    refuses "-i: goes with --words, --ngrams or --kmers" petal check -i f.petal a
    refuses "-i: is not for --canonical" petal check -i --kmers 3 --canonical f.petal a
    refuses "--min goes with --words, --ngrams or --kmers" petal check --min 80% f.petal a
    refuses "--min goes with --words, --ngrams or --kmers" petal seen --min 80% a
    refuses "--min 101%" petal check --words --min 101% f.petal a
    refuses "--min 0" petal check --words --min 0 f.petal a
    refuses "--min 0%" petal seen --words --min 0% a
    refuses "--explain shows one key per row" petal check --explain --words f.petal a
    refuses "words and k-mers are of one field" petal check --words -k 1,2 f.petal a
    refuses "words and k-mers are of text" petal build --words --key-type i64 -o g.petal a
    petal build --force --key-type i64 -o g.petal -e 5
    refuses "has keys of type i64; words and k-mers are of text" petal check --words g.petal -e 5
    refuses "has keys of type i64; words and k-mers are of text" petal which --words g.petal -e 5
}

@test "a row of 40 MB needs little memory beyond its text" {
    needs python3
    python3 - "$PETAL" <<'EOF'
import resource, subprocess, sys
petal = sys.argv[1]
with open("row", "wb") as f:
    f.write(b"ACGTTGCA" * (5 << 20) + b"\n")
subprocess.run([petal, "create", "-n", "1000", "-o", "f.petal"], check=True)
for rule in (["--kmers", "21"], ["--kmers", "21", "--canonical"], ["--words"], ["--ngrams", "1", "-i"]):
    subprocess.run([petal, "check", "-c", "--threads", "1", "--row-limit", "none", *rule, "f.petal", "row"],
                   stdout=subprocess.DEVNULL)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert peak < 40 * 5, f"{rule}: {peak} MB"
EOF
}

@test "containment of k-mers in a mutated genome equals that of an exact set, within its interval" {
    needs python3
    python3 - "$PETAL" <<'EOF'
import math, random, subprocess, sys
petal, k, rate = sys.argv[1], 21, 0.01
random.seed(4)
genome = "".join(random.choices("ACGT", k=300000))
other = bytes.maketrans(b"ACGT", b"TGCA")


def kmers(text):
    text = text.encode()
    for i in range(len(text) - k + 1):
        kmer = text[i : i + k]
        yield min(kmer, kmer.translate(other)[::-1])


def mutated(text, share):
    return "".join(random.choice("ACGT") if random.random() < share else c for c in text)


def flipped(text):
    return text.encode().translate(other)[::-1].decode()


open("genome", "w").write(genome + "\n")
subprocess.run([petal, "build", "--kmers", str(k), "--canonical", "-p", str(rate), "-o", "g.petal", "genome"], check=True)
exact = set(kmers(genome))
reads = []
for i in range(400):
    at = random.randrange(len(genome) - 2000)
    read = mutated(genome[at : at + 2000], (i % 20) / 200)
    reads.append(flipped(read) if i % 2 else read)
reads += ["".join(random.choices("ACGT", k=2000)) for _ in range(50)]
open("reads", "w").write("\n".join(reads) + "\n")
shares = [sum(kmer in exact for kmer in kmers(read)) / (2000 - k + 1) for read in reads]
for share in (0.3, 0.5, 0.8, 1.0):
    out = subprocess.run([petal, "check", "-n", "--kmers", str(k), "--canonical", "--min", f"{share:.0%}", "g.petal", "reads"],
                         stdout=subprocess.PIPE, text=True).stdout
    found = {int(line.split(":")[0]) - 1 for line in out.splitlines()}
    for i, true in enumerate(shares):
        # A k-mer in the filter is never missed. Absent k-mers pass independently, each with a
        # probability equal to the false-positive rate, so the test allows 6 standard deviations.
        absent = (1 - true) * (2000 - k + 1)
        most = true + (absent * rate + 6 * math.sqrt(absent * rate) + 3) / (2000 - k + 1)
        if true >= share:
            assert i in found, (i, true, share)
        elif most < share:
            assert i not in found, (i, true, share)
total = sum(round(share * (2000 - k + 1)) for share in shares)
asked = len(reads) * (2000 - k + 1)
out = subprocess.run([petal, "which", "-c", "--kmers", str(k), "--canonical", "g.petal", "--", "reads"],
                     stdout=subprocess.PIPE, text=True).stdout
counted = int(out.split("\t")[1])
extra = (asked - total) * rate
assert total <= counted <= total + extra + 6 * math.sqrt(extra * 21), (total, counted, extra)
assert counted > total
EOF
}
