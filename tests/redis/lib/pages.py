"""pages.py - runs the shell blocks below a heading on a page, as a reader would."""

import os
import re
import subprocess

from servers import MODULE

PORT, OTHER_PORT = "6379", "6380"  # in the documents
MODULES = "/usr/lib/redis/modules/petal.so"


def blocks(page, heading):
    """Returns the shell blocks in the section whose heading contains the word `heading`, in
    order."""
    with open(page, encoding="utf-8") as file:
        sections = re.split(r"(?m)^(?=## )", file.read())
    found = [section for section in sections if heading in section.splitlines()[0].lower()]
    assert len(found) == 1, (page, heading, [section.splitlines()[0] for section in sections])
    return re.findall(r"(?ms)^```sh\n(.*?)^```", found[0])


def run_blocks(page, heading, port, other_port=0):
    """Runs the blocks. Returns "" if they succeeded, or the end of their output if a command failed
    or a reply was an error. In the commands, the module path is replaced with the module under
    test, and the ports with the servers' ports."""
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
