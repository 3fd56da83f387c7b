# blocks.sh - runs the code blocks of a document and compares their output with the output shown in
# the document. The script that sources this file must define ok(), a scratch folder TMPDIR, and
# $top, to which the document's path is relative.
#
# If the first line of a block is a comment that contains a file name, the block is written to that
# file. A ```console block shows a terminal: lines that start with "$ " are commands, a "\" at the
# end of a line continues the command, and all other lines are output (including stderr). All blocks
# run in a single shell, as if a reader typed them. So if a command changes the current folder, the
# next block starts in the new folder.

# run_blocks DOCUMENT [FIRST LAST]: runs the blocks that start between these lines, in the current
# folder.
run_blocks() {
    rm -rf "$TMPDIR/blocks" && mkdir "$TMPDIR/blocks"
    awk -v folder="$TMPDIR/blocks" -v first="${2-1}" -v last="${3-0}" '
        FNR < first || (last && FNR > last) { next }
        /^```./ { inside = ++blocks; print substr($0, 4), FNR + 1 >(folder "/" blocks); next }
        /^```$/ { close(folder "/" inside); inside = 0; next }
        inside { print >(folder "/" inside) }' "$top/$1"
    blocks_count=$(ls "$TMPDIR/blocks" | wc -l)
    for blocks_number in $(seq 1 "$blocks_count"); do
        blocks_step "$TMPDIR/blocks/$blocks_number"
    done >"$TMPDIR/blocks/script"
    BLOCKS_HERE=$PWD sh "$TMPDIR/blocks/script" </dev/null
    for blocks_number in $(seq 1 "$blocks_count"); do
        blocks_file=$TMPDIR/blocks/$blocks_number
        read -r blocks_language blocks_line <"$blocks_file"
        [ "$blocks_language" != console ] ||
            ok "$1:$blocks_line: prints the output that it shows" same_transcript "$blocks_file"
    done
}

# blocks_step BLOCK: prints the shell commands that run the block and write its output to BLOCK.got.
blocks_step() {
    read -r blocks_language _ <"$1"
    blocks_name=$(sed -n '2s|^[/#*< !-]*\([A-Za-z_]*\.[a-z]*\)[ */>-]*$|\1|p' "$1")
    if [ "$blocks_language" = console ]; then
        printf 'exec >%s 2>&1\n' "'$1.got'"
        sed 1d "$1" | awk -v quote="'" '
            /^\$ / || more {
                shown = $0
                gsub(quote, quote "\\" quote quote, shown)
                printf "printf %s%%s\\n%s %s%s%s\n", quote, quote, quote, shown, quote
                command = command (more ? $0 : substr($0, 3))
                more = sub(/\\$/, "", command)
            }
            command != "" && !more { print command; command = "" }'
    elif [ -n "$blocks_name" ]; then
        printf 'sed 1d %s >"$BLOCKS_HERE/%s"\n' "'$1'" "$blocks_name"
    fi
}

same_transcript() { sed 1d "$1" | diff - "$1.got"; }
