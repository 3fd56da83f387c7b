#!/usr/bin/env bats
# input.bats - if the input is not a list of lines, the tool refuses it or prints a message, and no
# input, however hostile, makes memory use grow without bound.
load helper

# packed PROGRAM: prints the magic bytes of a file compressed by this program, which needn't be
# installed
packed() {
    case $1 in
    xz) printf '\xfd7zXZ\0\0\x04' ;;
    bzip2) printf 'BZh9\x31\x41\x59\x26\x53\x59' ;;
    'lz4') printf '\x04\x22\x4d\x18' ;;
    lzip) printf 'LZIP\x01' ;;
    lzma) printf '\x5d\0\0\x80\0' ;;
    lzop) printf '\x89LZO\0\r\n' ;;
    compress) printf '\x1f\x9d\x90' ;;
    zip) printf 'PK\x03\x04\x14' ;;
    7-Zip) printf '7z\xbc\xaf\x27\x1c' ;;
    RAR) printf 'Rar!\x1a\x07' ;;
    snappy) printf '\xff\x06\0\0sNaPpY' ;;
    esac
    printf 'more\n\0\n'
}

@test "compressed input of another program is refused with -z, and causes a warning without it" {
    for program in xz bzip2 lz4 lzip lzma lzop compress zip 7-Zip RAR snappy; do
        packed $program >list
        refuses "petal: list: is compressed by $program, which -z does not unpack; use " petal seen -z list
        contains "$stderr" " list | petal ..."
        refuses "petal: standard input: is compressed by $program, which -z does not unpack; use " petal seen -z <list
        run -0 --separate-stderr petal build --force -o f.petal list
        contains "$stderr" "petal: list: is compressed; its bytes are read as keys as they are; use "
        is "${#stderr_lines[@]}" 1
        rm -f g.petal
        refuses "which -z does not unpack" petal build -z -o g.petal list
        [ ! -e g.petal ]
        refuses "list: not a filter (compressed by $program, from byte 0); unpack it with " petal info list
    done
    echo text | gzip >text.gz
    for command in "add f.petal" "check f.petal" "shard -n 2" "seen"; do
        refuses "is compressed twice (gzip); -z unpacks it once" petal $command -z <(gzip -c text.gz)
    done
}

@test "the program that a message recommends can read the input" {
    needs xz bzip2
    seq 1000 >list
    for program in xz bzip2; do
        $program -k list
        hint=$(petal seen -z list.?z* 2>&1 | sed -n 's/.*; use \(.*\) | petal \.\.\.$/\1/p')
        $hint | petal seen | cmp - list
        rm list.*
    done
}

@test "zstd data from pzstd, which starts with a frame to skip, is unpacked" {
    needs zstd
    petal --version | grep -q 'with zstd' ||
        skip 'this petal has no zstd: ./dev test --all installs libzstd-dev'
    seq 100 >list
    { printf '\x50\x2a\x4d\x18\x04\0\0\0\x55\0\0\0'; zstd -qc list; } >list.zst
    petal seen -z list.zst | cmp - list
}

@test "files without lines of text are reported by kind" {
    tell() { # NAME BYTES
        printf "$2"'\0\1\2more\n' >data
        run -0 --separate-stderr petal build --force -o f.petal data
        is "$stderr" "petal: data: is $1; its bytes are read as keys as they are; write the keys out as lines first"
    }
    tell "a Parquet file" 'PAR1\x15\x04'
    tell "an SQLite database" 'SQLite format 3\0'
    tell "an Arrow file" 'ARROW1\0\0'
    tell "an Arrow stream" '\xff\xff\xff\xff\x10\x01\0\0\x10\0\0\0'
    tell "a Feather file" 'FEA1\0\0'
    tell "an ORC file" 'ORC\x0a\x03'
    tell "an Avro file" 'Obj\x01\x04'
    tell "an HDF5 file" '\x89HDF\r\n\x1a\n'
    tell "a numpy array" '\x93NUMPY\x01'
    tell "a Python pickle" '\x80\x04\x95\x10'
    tell "an Excel file" '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'
    mkdir folder && tar -cf data folder
    run -0 --separate-stderr petal seen data
    contains "$stderr" "petal: data: is a tar archive; its bytes are read as keys"
}

@test "a word that begins like a magic number is a word" {
    for word in PAR1 PARE ORC ORCHID FEA1 BZh9 Objective Rar! PK '7z' LZIP 'SQLite format 3' ustar ARROW1; do
        printf '%s\nanother\n' "$word" >list
        run -0 --separate-stderr petal seen -z list
        is "$output" "$word"$'\nanother'
        is "$stderr" ""
    done
}

@test "a byte order mark is not part of the first key, in a file or a pipe" {
    printf '\xef\xbb\xbfa\nb\n' >list
    for command in "list" "-" "list list" "-k 1 list" "-z list"; do
        petal seen $command <list | cmp - <(printf 'a\nb\n')
    done
    for pieces in 1 2 4; do
        dd if=list bs=$pieces status=none | petal seen | cmp - <(printf 'a\nb\n')
    done
    petal build -o f.petal -p 1e-9 list
    is "$(petal check f.petal -e a -e b -e $'\xef\xbb\xbfa')" $'a\nb'
    printf '\xef\xbb\xbf' | petal seen | cmp - /dev/null
    printf '\xef\xbb' | petal seen | cmp - <(printf '\xef\xbb\n')
    # With -0, keys need not be text, so the bytes of a byte-order mark are kept.
    printf '\xef\xbb\xbfa\0' | petal seen -0 | cmp - <(printf '\xef\xbb\xbfa\0')
    # These bytes are a byte-order mark only at the start of the input.
    printf 'b\n\xef\xbb\xbfa\n' | petal seen | cmp - <(printf 'b\n\xef\xbb\xbfa\n')
    gzip -c list | petal seen -z - list | cmp - <(printf 'a\nb\n')
    petal build --scheme counting -o c.petal - <list
    is "$(petal check c.petal -e a)" a
}

@test "UTF-16 is refused, and the message says how to convert it" {
    needs iconv
    seq 10 >list
    for kind in UTF-16LE UTF-16BE; do
        { [ $kind = UTF-16LE ] && printf '\xff\xfe' || printf '\xfe\xff'; iconv -f UTF-8 -t $kind list; } >wide
        for keys in "" "-k 1" "--csv 1" "--jsonl ."; do
            refuses "petal: wide: is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 wide | petal ..." petal seen $keys wide
        done
        iconv -f UTF-16 -t UTF-8 wide | petal seen | cmp - list
        refuses "wide: not a filter (UTF-16 text, from byte 0)" petal info wide
    done
}

# ---- long rows -----------------------------------------------------------------------------------

# zeros COUNT [BYTE]
zeros() { head -c "$1" /dev/zero | tr '\0' "${2-x}"; }

# peak COMMAND...: runs the command and prints its peak memory use in KiB
peak() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

@test "a row of more than 16 MiB is not a key: it is counted, reported with its line, and passed on unchanged" {
    { echo first; zeros 16777217; printf '\nlast\n'; } >long
    for from in long -; do
        petal seen $from <long 2>said | cmp - long
        contains "$(sed -n 1p said)" ': line 2: longer than a row may be (16 MiB, or --row-limit): "xxx'
        is "$(sed -n 2p said)" "petal: 1 row without a key: passed on"
    done
    { echo first; zeros 16777216; printf '\nlast\n'; } >allowed
    petal seen allowed 2>said | cmp - allowed
    is "$(cat said)" ""
    petal build -o f.petal -p 1e-9 long 2>said
    is "$(petal info --json f.petal | field items)" 2
    is "$(petal check -c f.petal long 2>said)" 2
    is "$(petal check -vc f.petal long 2>said)" 1
    petal check -v f.petal long 2>said | cmp - <(sed -n 2p long)
    petal check -vn f.petal long 2>said | cmp - <(sed -n '2s/^/2:/p' long)
    petal shard -n 3 long 2>said | sed 's/^[0-9]*\t//' | cmp - long
    petal shard -n 3 -o '%d' long 2>said
    sort 0 1 2 | cmp - <(sort long)
    zeros 20000000 | petal seen 2>said | cmp - <(zeros 20000000; echo)
}

@test "rows after a long one have the right numbers, and --row-limit sets the limit" {
    { zeros 400000; printf '\nx\n'; zeros 300000; printf '\n7\ny'; } >long
    seq 10 | petal build -o f.petal --key-type i64
    run -2 --separate-stderr petal check --row-limit 256KiB f.petal long
    contains "$stderr" 'petal: long: line 2: not a whole number: "x"'
    petal seen --row-limit 1KiB long 2>said | cmp - <(cat long; echo)
    is "$(tail -n 1 said)" "petal: 2 rows without a key: passed on"
    for limit in 256KiB 1 299999 300000 300001; do
        petal seen --row-limit $limit --threads 3 long long 2>said >out
        rows=4
        [ $limit != 300000 ] && [ $limit != 300001 ] || rows=2
        is "$limit $(tail -n 1 said)" "$limit petal: $rows rows without a key: passed on"
    done
    petal seen --row-limit none long 2>said | cmp - <(cat long; echo)
    is "$(cat said)" ""
    for pieces in 977 65536 1000000; do
        dd if=long bs=$pieces status=none | petal seen --row-limit 1KiB 2>said |
            cmp - <(cat long; echo)
        is "$(tail -n 1 said)" "petal: 2 rows without a key: passed on"
    done
    # Each member of a gzip file is read by a separate call, so the piece sizes don't depend on
    # timing.
    for piece in 40000 65536 200000; do
        split -b $piece --filter gzip long >long.gz
        petal seen -z --row-limit 1KiB long.gz 2>said | cmp - <(cat long; echo)
        is "$piece $(tail -n 1 said)" "$piece petal: 2 rows without a key: passed on"
    done
}

@test "long rows of fields, CSV and JSON, with quotes and newlines in them, end at the right place" {
    {
        printf 'id,text\r\n1,"'
        for i in $(seq 300); do
            zeros 1500 y
            printf '""\n",'
            zeros 50
            printf ',"'
        done
        printf 'end"\n2,"%s"\n' "$(zeros 300000 z)"
        printf '3,"a\nb"\n4,x'
    } >rows.csv
    printf '2\n3\n4\n' >set
    petal build -o set.petal -p 1e-9 set
    for threads in 1 4; do
        petal seen --row-limit 256KiB --threads $threads --csv id rows.csv 2>said |
            cmp - <(cat rows.csv; echo)
        contains "$(sed -n 1p said)" "rows.csv: line 2: longer than a row may be"
        is "$(tail -n 1 said)" "petal: 2 rows without a key: passed on"
    done
    for pieces in 1000 4095 200000; do
        dd if=rows.csv bs=$pieces status=none | petal seen --row-limit 256KiB --csv id 2>said |
            cmp - <(cat rows.csv; echo)
        is "$(tail -n 1 said)" "petal: 2 rows without a key: passed on"
    done
    is "$(petal check -n --row-limit 256KiB --csv id set.petal rows.csv 2>said)" $'1:id,text\r\n304:3,"a\nb"\n306:4,x'
    { printf '1,"never closed\n'; zeros 1000000 '\n'; } >open.csv
    petal seen --row-limit 256KiB --csv 1 open.csv 2>said | cmp - <(sed '$!b' open.csv)
    is "$(tail -n 1 said)" "petal: 1 row without a key: passed on"
    { printf '{"k":"'; zeros 300000; printf '"}\n{"k":1}\n'; } >rows.jsonl
    petal seen --row-limit 256KiB --jsonl .k rows.jsonl 2>said | cmp - rows.jsonl
    is "$(tail -n 1 said)" "petal: 1 row without a key: passed on"
    { zeros 300000; printf ' 1\nb 2\n'; } >rows
    petal seen --row-limit 256KiB -k 2 rows 2>said | cmp - rows
    is "$(tail -n 1 said)" "petal: 1 row without a key: passed on"
    refuses "rows: line 1: longer than a row may be" petal seen --strict --row-limit 256KiB -k 2 rows
    { zeros 1000000; printf '\n1\n'; } >header.csv
    refuses "header.csv: header: longer than a row may be" petal seen --row-limit 256KiB --csv id header.csv
}

@test "half a gigabyte of one line, in two megabytes of gzip, needs less memory than 64 MiB" {
    needs python3
    case $PETAL_BUILD_DIR in *asan | *ubsan | *tsan) skip "it brings its own malloc" ;; esac
    head -c 500000000 /dev/zero | gzip -1 >bomb.gz
    petal create -o f.petal -n 1000
    for command in "seen -z" "build --force -o g.petal -z" "add f.petal -z" "check -v f.petal -z" "seen -z -k 1" \
        "seen -z --csv 1" "seen -z --jsonl .a" "shard -n 2 -z" "build --force -z --scheme counting -o g.petal"; do
        most=$(peak "$PETAL" $command bomb.gz)
        [ "$most" -lt 65536 ] || fail "petal $command: $most KiB"
    done
    petal seen -z bomb.gz 2>said | cmp - <(head -c 500000000 /dev/zero; echo)
}

@test "short rows after a long one need no more memory than without it" {
    needs python3
    case $PETAL_BUILD_DIR in *asan | *ubsan | *tsan) skip "it brings its own malloc" ;; esac
    { zeros 9000000; echo; zeros 16000000 '\n'; } >rows
    most=$(peak "$PETAL" seen --threads 1 rows)
    [ "$most" -lt 131072 ] || fail "$most KiB"
}
