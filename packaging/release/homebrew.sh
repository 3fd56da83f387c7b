# homebrew.sh - writes Homebrew's formula, and runs its install and its test. Sourced by
# scripts/release, not run.

releases=$(identity repository)/releases/download/v$version
sum_of() { sha256sum <"$packages/$1" | cut -d' ' -f1; }
filled() { # filled TEMPLATE OUT ARCHIVE: the template with this release's values
    sed "s|@VERSION@|$version|g; s|@HOMEPAGE@|$(identity homepage)|g; s|@RELEASES@|$releases|g
        s|@SHA256@|$(sum_of "$3")|g" "packaging/release/$1" >"$packages/$2"
}
parses() { ruby -c "$packages/petal.rb"; }
installs_formula() {
    mkdir "$work/brew" && tar -xzf "$packages/petal-$version.tar.gz" -C "$work/brew" --strip-components=1 &&
        cd "$work/brew" && ruby "$source/packaging/release/formula.rb" "$packages/petal.rb" "$work/brew/prefix" >"$TMPDIR/brew" &&
        { echo "$releases/petal-$version.tar.gz" && sum_of "petal-$version.tar.gz"; } | diff - "$TMPDIR/brew"
}
installs_formula_alone() { (installs_formula); }
filled petal.rb petal.rb "petal-$version.tar.gz"
checked petal.rb "says $version" version_in petal.rb
checked petal.rb 'ruby -c' parses
checked petal.rb 'installs from the sources, its test passes' installs_formula_alone
skip 'petal.rb: brew audit' 'this machine: Debian has no Homebrew'
