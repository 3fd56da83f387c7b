#!/bin/sh
# Tests that in a project without other packages, the binding passes every test vector and every
# other test, on .NET 8 and on Mono.
#
# ./dev test --all and ./dev test bindings/dotnet install .NET 8 (bindings/dotnet/needs) in
# build/interop. If .NET 8 is not installed, this part is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
. bindings/dotnet/test/net.sh
here=$PWD/bindings/dotnet
package=$TMPDIR/packages/petalbloom/$net_version

needs mcs mono python3 ldd nm || finish

# ---- the package ---------------------------------------------------------------------------------

ok 'the package is made' "$here/pack" "$package"
library=$package/runtimes/linux-x64/native/libpetal.so
ok 'it needs only libc, libm and libz' links_only "$library" libc libm libz
only_petal() { ! nm -D --defined-only "$1" | awk '{ print $3 }' | grep -v '^petal_'; }
ok 'it exports only petal_ names' only_petal "$library"
zipped() {
    mkdir "$TMPDIR/unzipped" && python3 -m zipfile -e "$package.nupkg" "$TMPDIR/unzipped" &&
        rm -r "$TMPDIR/unzipped/_rels" "$TMPDIR/unzipped/[Content_Types].xml" &&
        diff -r "$package" "$TMPDIR/unzipped"
}
ok 'the .nupkg contains the same files' zipped

# ---- an empty project ----------------------------------------------------------------------------

project=$TMPDIR/project mono=$TMPDIR/mono
mkdir "$project" "$mono"
ok 'the tests compile with it' net_compile "$package" "$project/Tests.exe" "$here"/test/*.cs

cp "$project/Tests.exe" "$mono"
net_mono_project "$package" "$mono"
few_files() { (ulimit -n 1024 && "$@"); } # the file limit of a login shell
relay_as 'Mono: ' few_files mono "$mono/Tests.exe"
if net_runtime; then
    net_project "$project/Tests.exe"
    relay_as '.NET 8: ' few_files net_run "$TMPDIR/packages" "$project/Tests.exe"
fi

# ---- what documents and examples show ------------------------------------------------------------

# Combines a document's C# blocks into one program, in which the comments after WriteLine calls
# contain the expected output.
program_of() { # program_of DOCUMENT
    echo 'using System; using System.IO; using Petal;'
    echo 'static class Shown { static void Main() {'
    awk '/^```/ { inside = /^```csharp$/; next } inside' "$1"
    echo '} }'
}
shown() { # shown DOCUMENT NAME
    program_of "$1" >"$mono/$2.cs" && net_compile "$package" "$mono/$2.exe" "$mono/$2.cs" &&
        (cd "$mono" && mono "$2.exe") >"$mono/$2.got" &&
        sed -n 's|.*Console.WriteLine(.*); *// ||p' "$mono/$2.cs" >"$mono/$2.expected" &&
        [ -s "$mono/$2.expected" ] && diff "$mono/$2.expected" "$mono/$2.got"
}
ok 'README.md shows what happens' shown "$here/README.md" readme
ok 'docs/csharp.md shows what happens' shown docs/csharp.md docs

example() { net_compile "$package" "$mono/$1.exe" "$here/example/$1.cs"; }
ok 'the example Dedupe compiles' example Dedupe
dedupe() {
    file=$mono/seen.petal
    [ "$(printf 'a\nb\na\n' | mono "$mono/Dedupe.exe" "$file" | tr '\n' ' ')" = 'a b ' ] &&
        [ "$(printf 'c\nb\n' | mono "$mono/Dedupe.exe" "$file")" = c ] &&
        petal check -q "$file" -e a
}
ok 'it passes each line on once, in all its runs' dedupe
ok 'the example DropIn compiles' example DropIn
ok 'it contains what it claims' mono "$mono/DropIn.exe"
every_call() { # checks that docs/csharp.md mentions each public member
    ! cat "$here"/src/*.cs | grep -v ' override ' |
        sed -n 's/^        public \(static \)\{0,1\}[A-Za-z<>?, ]*\(\[\]\)\{0,1\} \([A-Z][A-Za-z]*\)\( {\|(\| =>\| *$\).*/\3/p' |
        sort -u | while read -r name; do
        grep -q "\b$name\b" docs/csharp.md || echo "not in docs/csharp.md: $name"
    done | grep .
}
ok 'docs/csharp.md has every call' every_call
finish
