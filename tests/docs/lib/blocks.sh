# blocks.sh - a document's blocks do what they show. Sourced; who sources it has ok(), a scratch
# folder TMPDIR, and the document's name relative to $top.
#
# A block whose first line is a comment with a file's name becomes that file. A ```console block is
# a terminal: lines that begin with "$ " are commands, a command goes on after a "\" at the end of
# its line, and all others are what they print (stderr too).

# run_blocks DOCUMENT [FIRST LAST]: the blocks that begin between these lines, here.
run_blocks() {
    rm -rf "$TMPDIR/blocks" && mkdir "$TMPDIR/blocks"
    awk -v folder="$TMPDIR/blocks" -v first="${2-1}" -v last="${3-0}" '
        FNR < first || (last && FNR > last) { next }
        /^```./ { inside = ++blocks; print substr($0, 4), FNR + 1 >(folder "/" blocks); next }
        /^```$/ { close(folder "/" inside); inside = 0; next }
        inside { print >(folder "/" inside) }' "$top/$1"
    for blocks_number in $(seq 1 "$(ls "$TMPDIR/blocks" | wc -l)"); do
        blocks_file=$TMPDIR/blocks/$blocks_number
        read -r blocks_language blocks_line <"$blocks_file"
        blocks_name=$(sed -n '2s|^[/#*< !-]*\([A-Za-z_]*\.[a-z]*\)[ */>-]*$|\1|p' "$blocks_file")
        if [ "$blocks_language" = console ]; then
            ok "$1:$blocks_line: prints what it shows" same_transcript "$blocks_file"
        elif [ -n "$blocks_name" ]; then
            sed 1d "$blocks_file" >"$blocks_name"
        fi
    done
}

same_transcript() {
    sed 1d "$1" >"$TMPDIR/shown"
    run_transcript "$TMPDIR/shown" >"$TMPDIR/got"
    diff "$TMPDIR/shown" "$TMPDIR/got"
}
run_transcript() {
    awk '/^\$ / || more { print; more = /\\$/ }' "$1" | while IFS= read -r blocks_command; do
        printf '%s\n' "$blocks_command"
        blocks_command=${blocks_command#??}
        while case $blocks_command in *\\) true ;; *) false ;; esac && IFS= read -r blocks_more; do
            printf '%s\n' "$blocks_more"
            blocks_command=${blocks_command%?}$blocks_more
        done
        sh -c "$blocks_command" 2>&1 </dev/null
    done
}
