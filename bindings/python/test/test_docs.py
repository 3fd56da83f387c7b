"""Tests that the examples in the docstrings, the README and docs/python.md produce the results they
show."""

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import petal
import pytest


def test_the_examples_of_docstrings():
    result = doctest.testmod(petal)
    assert result.failed == 0 and result.attempted >= 50


@pytest.mark.parametrize("path", ["bindings/python/README.md", "docs/python.md"])
def test_the_examples_of_documents(path, tmp_path, monkeypatch):
    text = Path(path).read_text()
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    names = {}
    for block in blocks:
        if ">>>" in block:
            runner.run(parser.get_doctest(block, names, path, path, 0), clear_globs=False)
            names.update(runner.test.globs)
        else:
            exec(compile(block, path, "exec"), names)
    assert blocks and runner.failures == 0


def test_every_call_is_documented_and_in_the_stubs():
    stubs = Path(petal.__file__).with_name("_petal.pyi").read_text()
    table = Path("docs/python.md").read_text()
    for name, value in [*vars(petal.Filter).items(), *vars(petal.Index).items()]:
        if name.startswith("_"):
            continue
        assert inspect.getdoc(value), name
        assert re.search(rf"def {name}\(", stubs), f"{name} is not in the stubs"
        assert f"`{name}" in table or f".{name}" in table, f"{name} is not in docs/python.md"
    for name in petal.__all__:
        assert inspect.getdoc(getattr(petal, name)), name


def test_the_examples_run(tmp_path):
    def run(name, *args, input=""):
        command = [sys.executable, f"bindings/python/example/{name}", *args]
        run = subprocess.run(command, input=input, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    path = str(tmp_path / "seen.petal")
    assert run("dedupe.py", path, input="a\nb\na\n") == "a\nb\n"
    assert run("dedupe.py", path, input="c\nb\n") == "c\n"
    found = int(run("antijoin.py").split()[0])
    assert 4970 <= found <= 5000
