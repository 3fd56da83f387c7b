# homebrew.sh - writes Homebrew's formula, and runs the formula's install and test methods. Sourced
# by scripts/release, not run.

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
