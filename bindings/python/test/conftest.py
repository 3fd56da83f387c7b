"""conftest.py - fixtures that the tests share."""

import subprocess
from pathlib import Path

import pytest

# The tests run from the top of the repository, so that they can find vectors/.
assert Path("vectors").is_dir(), "run the tests from the top of the repository"


@pytest.fixture
def tool(tmp_path):
    """Returns tool(filter, lines, key_type), which returns, for each line, whether `petal check`
    finds it."""

    def ask(filter, lines, key_type):
        path = tmp_path / "asked.petal"
        filter.save(path)
        run = subprocess.run(
            ["petal", "check", "-n", "--key-type", key_type, path],
            input=b"".join(line + b"\n" for line in lines),
            capture_output=True,
        )
        assert run.returncode in (0, 1), run.stderr
        found = {int(line.split(b":", 1)[0]) for line in run.stdout.splitlines()}
        return [number + 1 in found for number in range(len(lines))]

    return ask
