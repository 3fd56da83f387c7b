# maven.sh - creates the files for an upload to Maven Central, signs them with a temporary key, and
# checks Maven Central's rules. Sourced by scripts/release, not run.

GNUPGHOME=$(mktemp -d /tmp/petal-gnupg.XXXXXX) # a socket's path must be short
export GNUPGHOME
upload=$work/maven/$(identity maven_group | tr . /)/petal-bloom/$version
new_key() {
    gpg --batch --pinentry-mode loopback --passphrase '' \
        --quick-generate-key 'Dry run' ed25519 sign 1d
}
stages() {
    mkdir -p "$upload" && cp "$packages/petal-bloom-$version"[.-]*jar "$packages/petal-bloom-$version.pom" "$upload" &&
        cd "$upload" && for signed in *; do
            gpg --batch --armor --detach-sign "$signed" &&
                for sum in md5 sha1 sha256; do ${sum}sum <"$signed" | cut -d' ' -f1 >"$signed.$sum"; done
        done
}
stages_there() { (stages); }
verifies() { gpg --batch --verify "$upload/$1.asc" "$upload/$1"; }
if [ -n "$(made 'petal-bloom-*.pom')" ]; then
    ok 'a throw-away key' new_key
    ok 'the upload to Maven Central' stages_there
    checked "petal-bloom-$version.pom" "Central's rules" python3 packaging/release/maven-rules "$upload" \
        "$(identity maven_group)" petal-bloom "$version"
    for file in $(made "petal-bloom-$version.pom") $(made 'petal-bloom-*.jar'); do
        checked "$file" 'signature' verifies "$file"
    done
fi
gpgconf --kill all 2>/dev/null
rm -rf "$GNUPGHOME"
