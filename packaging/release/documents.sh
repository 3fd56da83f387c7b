# documents.sh - writes and checks the parts of a release other than its packages: notes from the
# changelog, a bill of materials, and checksums. Also checks the workflows. Sourced by
# scripts/release, not run.

has_notes() {
    packaging/release/notes >"$packages/notes.md" &&
        grep -q '^- ' "$packages/notes.md" && ! grep '^## ' "$packages/notes.md"
}
has_heading() { grep -m 1 '^## ' CHANGELOG.md | grep -xE "## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}"; }
ok "CHANGELOG.md: the newest section is $version, with a date" has_heading
checked notes.md "the changelog's section" has_notes

sbom=petal-$version.spdx.json
writes_sbom() { python3 packaging/release/sbom "$packages" "$version" "$ZLIB" >"$packages/$sbom"; }
validates() { "$top/build/release-tools/bin/pyspdxtools" -i "$packages/$sbom" --version SPDX-2.3; }
checked "$sbom" 'lists every file' writes_sbom
if [ -x "$top/build/release-tools/bin/pyspdxtools" ]; then
    checked "$sbom" 'SPDX 2.3 (spdx-tools)' validates
else
    skip "$sbom: SPDX 2.3" 'unreachable: spdx-tools'
fi

sums() { (cd "$packages" && rm -f SHA256SUMS && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .); }
sums_hold() {
    (cd "$packages" && sha256sum --check --strict --quiet SHA256SUMS) &&
        [ "$(wc -l <"$packages/SHA256SUMS")" = "$(ls "$packages" | grep -cvx SHA256SUMS)" ]
}
ok 'SHA256SUMS is written' sums
checked SHA256SUMS 'every file' sums_hold

versions_agree() {
    mkdir -p "$TMPDIR/built/bin" && cp "$work/brew/prefix/bin/petal" "$TMPDIR/built/bin" &&
        PETAL_BUILD_DIR=$TMPDIR/built scripts/check-versions
}
ok './dev check versions, with the version set' versions_agree
(cd "$top" && scripts/check-workflows) >"$work/logs/workflows.log" 2>&1
workflows_status=$?
workflows_pass() { cat "$work/logs/workflows.log" && return $workflows_status; }
if grep -q '^SKIP' "$work/logs/workflows.log"; then
    skip 'workflows: actionlint' 'unreachable: actionlint'
else
    ok 'workflows: actionlint' workflows_pass
fi

(cd "$packages" && for file in *; do
    printf '%s %s %s\n' "$(wc -c <"$file")" "$(sha256sum <"$file" | cut -d' ' -f1)" "$file"
done) >"$work/table"
