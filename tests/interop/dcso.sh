#!/bin/sh
# dcso.sh - DCSO's bloom tool, with plain and gzip files, and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs bloom || finish

# DCSO's tool reads keys as lines and prints the keys that are present.
theirs() {
    case $2 in dcso-gzip) flag=--gzip ;; *) flag= ;; esac
    case $1 in
    make) bloom $flag create -n "$5" -p "$6" "$7" && bloom $flag insert "$7" <"$4" ;;
    add) cp "$4" "$6" && bloom $flag insert "$6" <"$5" ;;
    ask) bloom $flag check "$4" <"$5" | awk 'FNR == NR { found[$0]; next } { print $0 in found ? 1 : 0 }' - "$5" ;;
    esac
}

version=$(dpkg-query -W -f '${Version}' golang-github-dcso-bloom-cli 2>/dev/null || bloom --version)
ran 'DCSO bloom' "$version" 'Debian golang-github-dcso-bloom-cli' 'dcso, dcso-gzip'
for size in '2000 0.01' '3001 0.03'; do
    # shellcheck disable=SC2086 # two words
    alike 'DCSO bloom' dcso text $size
done

# Different gzip implementations produce different bytes, so the test compares the decompressed
# files.
keys text
packed=$TMPDIR/packed
unpacked_alike() { gzip -dc "$packed.theirs" >"$packed.1" && gzip -dc "$packed.ours" >"$packed.2" && cmp "$packed.1" "$packed.2"; }
ok 'DCSO bloom, gzip: they make one' theirs make dcso-gzip text "$TMPDIR/text.keys" 2000 0.01 "$packed.theirs"
ok 'DCSO bloom, gzip: we make one' ours make dcso-gzip text "$TMPDIR/text.keys" 2000 0.01 "$packed.ours"
ok 'DCSO bloom, gzip: both are the same, unpacked' unpacked_alike
ok 'DCSO bloom, gzip: we read theirs, and give the same answers' answers_alike dcso-gzip text "$packed.theirs"
ok 'DCSO bloom, gzip: they read ours, and give the same answers' answers_alike dcso-gzip text "$packed.ours"

attached() { # attached FORMAT FILE
    printf 'any data\0\n' >"$TMPDIR/data" && cp "$packed.1" "$TMPDIR/with" && bloom set-data "$TMPDIR/with" <"$TMPDIR/data" &&
        through_petal dcso "$TMPDIR/with" && bloom get-data "$TMPDIR/with.back" >"$TMPDIR/data.back" && cmp "$TMPDIR/data" "$TMPDIR/data.back"
}
ok 'DCSO bloom: attached data survives in a petal file' attached
finish
