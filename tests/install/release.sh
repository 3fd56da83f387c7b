#!/bin/sh
# release.sh - the dry run of a release first refuses a version that can't be the next version. The
# dry run sets the version in every place in a copy and leaves the tree unchanged. The release rules
# refuse packages that a registry would refuse. `./dev test packages/release` tests a complete dry
# run.
set -u
. tests/install/lib/tap.sh
needs git python3 || finish

top=$PWD
git status --porcelain >"$TMPDIR/before"
refuses() { # refuses WORDS ARGUMENT...: expects status 2 and one line containing WORDS
    refuses_words=$1
    shift
    ./dev release "$@" >"$TMPDIR/said" 2>&1
    [ $? -eq 2 ] && cat "$TMPDIR/said" && [ "$(wc -l <"$TMPDIR/said")" -eq 1 ] && grep -qF -e "$refuses_words" "$TMPDIR/said"
}
ok 'without --dry-run' refuses usage 1.2.0
for wrong in 1.2 01.2.0 1.2.0-rc1 1.100.0 v1.2.0 ''; do
    ok "\"$wrong\" is no version" refuses 'is no version' --dry-run "$wrong"
done
ok 'a version older than the changelog'\''s' refuses 'is older than' --dry-run 0.0.9

# ---- a copy of the tree --------------------------------------------------------------------------

copy=$TMPDIR/copy
mkdir "$copy"
copies() { git ls-files -z -co --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy"; }
sets() { "$copy/scripts/set-version" 98.7.6 2031-02-03; }
agrees() { # only the tool, which was built earlier, may differ
    PETAL_BUILD_DIR=$PETAL_BUILD_DIR "$copy/scripts/check-versions" >"$TMPDIR/differ"
    grep -v '^petal --version' "$TMPDIR/differ"
    grep -c . "$TMPDIR/differ" | grep -qx 1
}
has_heading() { grep -m 1 '^## ' "$copy/CHANGELOG.md" | grep -x '## 98.7.6 - 2031-02-03'; }
same_again() { "$copy/scripts/set-version" 98.7.6 && has_heading && grep -x '.Dd February 3, 2031' "$copy/docs/man/petal.1"; }
has_library() { grep -x 'Package: libpetal98.7' "$copy/packaging/debian/control" && ls "$copy/packaging/debian/libpetal98.7.install"; }
no_section() { "$copy/scripts/set-version" 98.7.7 2>&1 | grep 'has no section for 98.7.7'; }
ok 'the tree is copied' copies
ok 'the version is set' sets
ok 'every place has it' agrees
ok 'the changelog has it, with the date' has_heading
ok 'if it is set again, the date stays' same_again
ok "Debian's library has it in its name" has_library
ok 'a released section is not the next one'\''s' no_section

# ---- the rules -----------------------------------------------------------------------------------

states() { # states WRONG NAME: writes a package with this name and version 1.0.0
    python3 - "$TMPDIR/$1" <<'EOF'
import io, sys, tarfile
with tarfile.open(sys.argv[1], "w:gz") as made:
    data = b'{ "version": "1.0.0" }'
    entry = tarfile.TarInfo("package/package.json")
    entry.size = len(data)
    made.addfile(entry, io.BytesIO(data))
EOF
    [ "$(packaging/release/metadata "$TMPDIR/$1")" = 1.0.0 ]
}
ok 'the version is read in the package, not in its name' states petal-bloom-2.0.0.tgz

# upload FOLDER: writes an upload that Maven Central accepts, using the tree's pom
upload() {
    python3 - "$1" <<'EOF'
import hashlib, pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
for kind, name in (("", "A.class"), ("-sources", "A.java"), ("-javadoc", "index.html")):
    with zipfile.ZipFile(folder / f"petal-bloom-98.7.6{kind}.jar", "w") as jar:
        jar.writestr(name, "")
(folder / "petal-bloom-98.7.6.pom").write_bytes((folder.parent / "copy/bindings/java/pom.xml").read_bytes())
for file in list(folder.iterdir()):
    (folder / f"{file.name}.asc").write_text("-----BEGIN PGP SIGNATURE-----\n")
    for sum in ("md5", "sha1", "sha256"):
        (folder / f"{file.name}.{sum}").write_text(hashlib.new(sum, file.read_bytes()).hexdigest())
EOF
}
group=$(sed -n 's/^maven_group = //p' IDENTITY)
central() { python3 packaging/release/maven-rules "$1" "$group" petal-bloom 98.7.6; }
without() { # without NAME FOLDER FAULT SED_SCRIPT
    sed -i "$3" "$1/petal-bloom-98.7.6.pom" && ! central "$1" >"$TMPDIR/faults" && cat "$TMPDIR/faults" && grep -q "$2" "$TMPDIR/faults"
}
ok "Maven Central's files" upload "$TMPDIR/upload"
ok 'they follow its rules' central "$TMPDIR/upload"
ok 'a pom without scm does not' without "$TMPDIR/upload" 'no scm/url' '/<scm>/,/<\/scm>/d'
ok 'nor another checksum' without "$TMPDIR/upload" 'another sha1' 's/$/ /'

nuget() { # nuget SED_SCRIPT: applies the rules to a manifest changed by the sed script
    rm -rf "$TMPDIR/nuget" && mkdir -p "$TMPDIR/nuget/lib/netstandard2.0" &&
        sed "$1" "$copy/bindings/dotnet/PetalBloom.nuspec" >"$TMPDIR/nuget/PetalBloom.nuspec" &&
        echo readme >"$TMPDIR/nuget/README.md" && : >"$TMPDIR/nuget/lib/netstandard2.0/Petal.dll" &&
        python3 bindings/dotnet/zip "$TMPDIR/nuget" "$TMPDIR/nuget.nupkg" &&
        python3 packaging/release/nuget-rules "$TMPDIR/nuget.nupkg" PetalBloom 98.7.6 >"$TMPDIR/faults"
}
finds() { ! nuget "$1" && cat "$TMPDIR/faults" && grep -q "$2" "$TMPDIR/faults"; }
ok "the manifest follows NuGet's rules" nuget ''
ok 'not without a licence' finds '/<license /d' 'no license'
ok 'nor with a missing readme' finds 's/README.md/READ.md/' 'readme is missing'
ok 'nor with another version' finds 's/98.7.6/98.7.5/' 'another id or version'

unchanged() { git status --porcelain | diff "$TMPDIR/before" -; }
ok 'the tree has not changed' unchanged
finish
