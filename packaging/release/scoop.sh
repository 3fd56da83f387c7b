# scoop.sh - writes Scoop's manifest, and checks the manifest's fields against the zip file that it
# refers to. Sourced by scripts/release, not run.

names_zip() {
    python3 - "$packages" "$1" <<'EOF'
import hashlib, json, re, sys, zipfile
from pathlib import Path
folder, file = Path(sys.argv[1]), sys.argv[2]
manifest = json.loads((folder / "petal.json").read_text())
# Requires the fields that Scoop's bucket requires, and no fields outside Scoop's schema.
assert set(manifest) == {"version", "description", "homepage", "license", "architecture", "bin"}, list(manifest)
assert re.fullmatch(r"[\w.+-]+", manifest["version"]) and manifest["homepage"].startswith("https://")
(system, it), = manifest["architecture"].items()
assert system == "64bit" and set(it) == {"url", "hash", "extract_dir"}, it
assert it["url"].startswith("https://") and it["url"].endswith("/" + file), it["url"]
assert it["hash"] == hashlib.sha256((folder / file).read_bytes()).hexdigest(), it["hash"]
assert it["extract_dir"] + "/" + manifest["bin"] in zipfile.ZipFile(folder / file).namelist()
EOF
}
for file in $(made "petal-$version-windows-x86_64.zip"); do
    filled petal.json petal.json "$file"
    checked petal.json "says $version" version_in petal.json
    checked petal.json 'its fields, the zip and its sum' names_zip "$file"
    skip 'petal.json: scoop install' 'this machine: not Windows'
done
