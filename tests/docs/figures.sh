#!/bin/sh
# figures.sh - checks that scripts/check-figures fails if code has changed since a page of
# bench/results was measured. Changes to comments, white space and documents must be accepted, as
# must changes that the page excuses. The test creates its own repository.
set -u
. tests/install/lib/tap.sh
needs git python3 || finish

export HOME="$TMPDIR" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
mkdir -p "$TMPDIR/tree/scripts" "$TMPDIR/tree/bench/results" "$TMPDIR/tree/src"
cp scripts/check-figures "$TMPDIR/tree/scripts"
cd "$TMPDIR/tree" || exit 2
page=bench/results/page.md

cat >src/add.c <<'END'
/* add.c - adds. */
int add(int a, int b)
{
    return a + b; // no overflow
}
const char *const url = "http://example.org/*";
END
cat >src/add.py <<'END'
"""add - adds."""


def add(a, b):
    """The sum."""
    return a + b  # of two
END
printf '#!/bin/sh\n# add - adds\necho $(($1 + $2))\n' >src/add
echo '# How it adds' >src/README.md
git init -q . && git add . && git commit -qm 'the code'
git rev-parse --short HEAD >"$TMPDIR/measured"

# page_says [LINE...]: writes the page as measured at the first commit, followed by these lines.
page_says() {
    printf '# A page\n\nMeasured at commit `%s`: `src`.\n' "$(cat "$TMPDIR/measured")" >$page
    for line; do printf '\n%s\n' "$line" >>$page; done
}
# change FILE FROM TO: replaces text in a file and commits the change. undo reverts the commit and
# any changes in the work tree.
change() { sed "s|$2|$3|" "$1" >"$TMPDIR/changed" && cat "$TMPDIR/changed" >"$1" && git commit -qam "$1"; }
undo() { git reset -q --hard "$(cat "$TMPDIR/measured")" && page_says; }
fresh() { scripts/check-figures; }
old() { # old TEXT: checks that the script fails with a message containing TEXT
    scripts/check-figures --stale >"$TMPDIR/said"
    status=$?
    cat "$TMPDIR/said"
    [ $status -eq 1 ] && grep -q "$1" "$TMPDIR/said"
}

page_says
ok 'passes if nothing changed' fresh

change src/add.c 'no overflow' 'wraps, maybe'
change src/add.c 'return a' '  return  a'
change src/add.c 'adds' 'adds two numbers'
change src/add.py 'The sum' 'Returns the sum'
change src/add.py 'of two' 'of both'
change src/add '# add' '# add:'
change src/README.md 'it adds' 'the sum is made'
ok 'passes if comments, white space and documents changed' fresh

change src/add.c 'a + b;' 'b + a;'
changed=$(git rev-parse HEAD)
ok 'fails if a line of C changed, and names page, commit and file' \
    old "^    $(echo "$changed" | cut -c1-11) src/add.c$"
page_says "Later changes: \`$(git rev-parse --short HEAD)\` (the sum is the same)."
ok 'passes if the page excuses that commit' fresh
page_says "Later changes: \`$(git rev-parse --short HEAD)\`."
ok 'fails if the excuse has no reason' old 'src/add.c'
page_says "Later changes: \`$(git rev-parse --short HEAD)\` (the sum is the same)."
change src/add.c 'b + a;' 'b - a;'
ok 'fails if another commit follows the excused one' old 'src/add.c'
page_says 'Later changes: `1234567` (of another history).'
ok 'fails if an excused commit is unknown' old '1234567 is no commit'
undo

change src/add.c 'example.org/' 'example.org//'
ok 'fails if a string changed that looks like a comment' old 'src/add.c'
undo
change src/add.py 'a + b' 'b + a'
ok 'fails if a line of Python changed' old 'src/add.py'
undo
change src/add 'echo' 'printf %d'
ok 'fails if a line of a script changed' old 'src/add$'
undo
change src/add.c 'a + b;' 'b + a;'
change src/add.c 'b + a;' 'a + b;'
ok 'passes if a change was reverted' fresh
undo
echo 'int more;' >>src/add.c
ok 'fails if a change is in no commit yet' old 'uncommitted src/add.c'
undo
git rm -q src/add && git commit -qm 'one less'
ok 'fails if a file was removed' old 'src/add$'
undo
echo 'int other;' >src/other.c && git add src/other.c && git commit -qm 'one more'
ok 'fails if a file was added' old 'src/other.c'
undo
echo '# A page' >$page
ok 'fails if a page does not state where it was measured' old 'does not say'
page_says && git add $page && git commit -qm 'the page'

skips() { "$1/scripts/check-figures" | grep -q '^SKIP this machine'; }
git clone -q --depth 1 "file://$TMPDIR/tree" "$TMPDIR/shallow"
ok 'skips in a clone without history' skips "$TMPDIR/shallow"
mkdir "$TMPDIR/plain" && cp -r bench scripts src "$TMPDIR/plain"
ok 'skips without git' skips "$TMPDIR/plain"
finish
