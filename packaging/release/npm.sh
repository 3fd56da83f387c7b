# npm.sh - runs the checks that npm performs before publishing, and a test installation. Sourced by
# scripts/release, not run.

publishes() { # npm corrects a faulty manifest and goes on, but each correction is a fault
    (cd "$TMPDIR" && npm publish --dry-run --offline "$packages/$1") >"$TMPDIR/npm" 2>&1
    npm_status=$?
    cat "$TMPDIR/npm"
    [ $npm_status -eq 0 ] && ! grep -E 'npm (ERR!|error)|auto-corrected|errors corrected|No (README|license|repository)' "$TMPDIR/npm"
}
requires() {
    mkdir "$work/npm" && cd "$work/npm" && echo '{ "private": true, "type": "module" }' >package.json &&
        npm install --offline --no-audit --no-fund "$packages/$1" &&
        cp "$source/examples/ten-lines/ten.mjs" . &&
        node ten.mjs | tee /dev/stderr | tr '\n' ' ' | grep -qx 'false true '
}
requires_alone() { (requires "$@"); }
for file in $(made 'petal-bloom-*.tgz'); do
    checked "$file" 'npm publish --dry-run' publishes "$file"
    checked "$file" 'installs and runs' requires_alone "$file"
done
