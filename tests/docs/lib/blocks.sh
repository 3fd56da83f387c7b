# blocks.sh - runs the blocks of a document, and compares their output with what it shows. It is
# sourced by a script that has ok(), a scratch folder TMPDIR, and the document's name relative to
# $top.
#
# If the first line of a block is a comment with a file's name, the block becomes that file. A
# ```console block is a terminal: lines that start with "$ " are commands, a "\" at the end of a
# line continues the command, and all other lines are the output (including stderr). All blocks run
# in one shell, as a reader would type them. So if a command changes the folder, the next block
# starts in it.

# run_blocks DOCUMENT [FIRST LAST]: runs the blocks that begin between these lines, here.
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
            ok "$1:$blocks_line: prints what it shows" same_transcript "$blocks_file"
    done
}

# blocks_step BLOCK: what the shell does for it. Its output goes to BLOCK.got.
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
