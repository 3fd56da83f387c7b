"""check-manifest.py MANIFEST - checks that MANIFEST is JSON as docs/hosting.md specifies, and that
every file named in it exists and has the size given."""
import json
import os
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    manifest = json.load(file)
folder = os.path.dirname(sys.argv[1])
patches = manifest["patches"]
assert list(manifest) == ["version", "id", "file", "bytes", "patches"], list(manifest)
assert manifest["version"] == 1
assert all(list(patch) == ["from", "to", "file", "bytes"] for patch in patches), patches
for patch, following in zip(patches, [other["from"] for other in patches[1:]] + [manifest["id"]]):
    assert patch["to"] == following, (patch, following)
for version in [manifest["id"]] + [patch["from"] for patch in patches]:
    assert re.fullmatch("[0-9a-f]{16}", version), version
for item in [manifest] + patches:
    assert re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9._-]*", item["file"]), item
    assert os.path.getsize(os.path.join(folder, item["file"])) == item["bytes"], item
assert sum(patch["bytes"] for patch in patches) < manifest["bytes"]
