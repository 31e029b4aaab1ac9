"""The programs of examples/python/adapters run, and so does what the pages of docs/adapters show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "python" / "adapters").glob("*.py"))
PAGES = sorted(page for page in (ROOT / "docs" / "adapters").glob("*.md") if page.name != "README.md")


def blocks_of(page: Path) -> list[str]:
    """The page's blocks of Python."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


SHOWN = [page for page in PAGES if blocks_of(page)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.strip(), "an example shows what it does"


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_pages_run(page: Path, tmp_path: Path) -> None:
    """A page's blocks run one after the other, with the scripted model of its example as `model` and the example's tool."""
    text = page.read_text(encoding="utf-8")
    named = re.search(r"examples/python/adapters/\w+\.py", text)
    assert named, page
    example = (ROOT / named.group()).read_text(encoding="utf-8")
    model = re.search(r"\w+\(model=\"scripted\"\)", example)  # CrewAI's models have to be named
    made = model.group() if model else "Scripted()"
    code = f"{example.rpartition('if __name__')[0]}\nmodel = {made}\n" + "\n".join(blocks_of(page))
    expect = [line.split("#> ", 1)[1] for line in code.splitlines() if "#> " in line]
    program = tmp_path / "page.py"
    program.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "ignore", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expect


def test_pages_show_code_or_a_configuration() -> None:
    for page in PAGES:
        assert page in SHOWN or "```yaml" in page.read_text(encoding="utf-8"), page


def test_every_adapter_has_its_page_and_example() -> None:
    modules = sorted((ROOT / "python" / "epitome_context" / "adapters").glob("[a-z]*.py"))
    assert len(modules) >= 4
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    programs = "".join(example.read_text(encoding="utf-8") for example in EXAMPLES)
    for module in modules:
        assert (
            f"epitome_context.adapters.{module.stem}" in texts and f"epitome_context.adapters.{module.stem}" in programs
        )
