"""Every example of the documentation runs: docstrings, the README and docs/python.md, examples/python."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import epitome_context

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "python" / "README.md", ROOT / "docs" / "python.md"]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
MODULES = [name for _, name, _ in pkgutil.iter_modules(epitome_context.__path__) if name not in ("_epitome", "_keywords")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name: str) -> None:
    module = importlib.import_module(f"epitome_context.{name}")
    assert doctest.testmod(module).failed == 0


def test_there_are_docstrings_that_run() -> None:
    finder = doctest.DocTestFinder(recurse=True)
    modules = [importlib.import_module(f"epitome_context.{name}") for name in MODULES]
    examples = [test for module in modules for test in finder.find(module) if test.examples]
    assert len(examples) >= 15
    for name in epitome_context.__all__:
        assert name == "__version__" or getattr(epitome_context, name).__doc__, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The blocks of a page run one after the other, as a reader would type them; text behind `#>` is what is printed."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks, page
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks)
    expect = [line.split("#> ", 1)[1] for line in code.splitlines() if "#> " in line]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expect


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.strip(), "an example shows what it does"


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
