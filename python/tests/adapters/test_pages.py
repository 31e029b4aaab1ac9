"""The programs of examples/python/adapters run, and so does what the sections of docs/adapters.md show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "python" / "adapters").glob("*.py"))
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """The text of each section that names a program, by its heading."""
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
    return {name: text for name, text in zip(parts[1::2], parts[2::2], strict=True) if program_of(text)}


def program_of(text: str) -> str | None:
    named = re.search(r"examples/python/adapters/\w+\.py", text)
    return named and named.group()


def blocks_of(text: str) -> list[str]:
    """The section's blocks of Python."""
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


SECTIONS = sections()
SHOWN = [name for name, text in SECTIONS.items() if blocks_of(text)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.strip(), "an example shows what it does"


@pytest.mark.parametrize("name", SHOWN)
def test_sections_run(name: str, tmp_path: Path) -> None:
    """A section's blocks run one after the other, with the scripted model of its example as `model` and the example's tool."""
    text = SECTIONS[name]
    program = program_of(text)
    assert program
    example = (ROOT / program).read_text(encoding="utf-8")
    model = re.search(r"\w+\(model=\"scripted\"\)", example)  # CrewAI's models have to be named
    made = model.group() if model else "Scripted()"
    code = f"{example.rpartition('if __name__')[0]}\nmodel = {made}\n" + "\n".join(blocks_of(text))
    expect = [line.split("#> ", 1)[1] for line in code.splitlines() if "#> " in line]
    written = tmp_path / "section.py"
    written.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "ignore", written], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expect


def test_sections_show_code_or_a_configuration() -> None:
    for name, text in SECTIONS.items():
        assert name in SHOWN or "```yaml" in text, name


def test_every_adapter_has_its_section_and_example() -> None:
    modules = sorted((ROOT / "python" / "epitome_context" / "adapters").glob("[a-z]*.py"))
    assert len(modules) >= 4
    texts = "".join(SECTIONS.values())
    programs = "".join(example.read_text(encoding="utf-8") for example in EXAMPLES)
    for module in modules:
        assert (
            f"epitome_context.adapters.{module.stem}" in texts and f"epitome_context.adapters.{module.stem}" in programs
        )
