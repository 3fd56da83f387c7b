"""pages.py - runs a page's commands as a reader would: the shell blocks below a heading."""

import os
import re
import subprocess

from servers import MODULE

PORT, OTHER_PORT = "6379", "6380"  # in the documents
MODULES = "/usr/lib/redis/modules/petal.so"


def blocks(page, heading):
    """Returns the blocks, in order, of the section whose heading contains the word."""
    with open(page, encoding="utf-8") as file:
        sections = re.split(r"(?m)^(?=## )", file.read())
    found = [section for section in sections if heading in section.splitlines()[0].lower()]
    assert len(found) == 1, (page, heading, [section.splitlines()[0] for section in sections])
    return re.findall(r"(?ms)^```sh\n(.*?)^```", found[0])


def run_blocks(page, heading, port, other_port=0):
    """Their output; an error if one of the commands failed or a reply was an error. Replaces the
    page's module with ours, and its ports with the servers'."""
    text = "".join(blocks(page, heading))
    assert text, (page, heading)
    text = re.sub(r"redis-cli (?!-p)", f"redis-cli -p {PORT} ", text)
    text = text.replace("redis-cli ", "redis-cli -e ")
    text = text.replace(PORT, str(port)).replace(OTHER_PORT, str(other_port))
    text = text.replace(MODULES, MODULE)
    path = os.environ["PETAL_BUILD_DIR"] + "/bin:" + os.environ["PATH"]
    run = subprocess.run(["sh", "-e"], input=text, cwd=os.environ["TMPDIR"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, "PATH": path})
    return "" if run.returncode == 0 else run.stdout[-1000:] or "failed"
