"""The habits that keep the house simple, held by tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ("src", "tests", "scripts", "benchmarks")
LONGEST = 300


def python_files() -> list[Path]:
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.is_file() and not path.suffix]
    return [*scripts, *(path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py")))]


def test_no_file_of_code_is_longer_than_a_reader_holds_in_mind() -> None:
    """Every Python file has fewer than 300 lines."""
    lengths = {path.relative_to(ROOT): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert {str(path): length for path, length in lengths.items() if length >= LONGEST} == {}


def test_a_template_fits_a_screen_or_two() -> None:
    """Every template has at most 130 lines."""
    templates = (ROOT / "templates").rglob("*.j2")
    long = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in templates}
    assert {path: length for path, length in long.items() if length > 130} == {}


def test_imports_go_one_way() -> None:
    """The import contracts of pyproject.toml hold."""
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout


def test_what_is_generated_is_committed() -> None:
    """Schemas, goldens and pages are what `scripts/generate` writes."""
    run = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("word", ["/work/main", "/work/shared", "shared/facts"])
def test_the_project_speaks_only_of_itself(word: str) -> None:
    """No file names a path of the place where it was written."""
    found = []
    for folder in (*CODE, "templates", "profiles", "policies", "docs"):
        for path in (ROOT / folder).rglob("*"):
            read = path.suffix in {".py", ".yaml", ".md", ".j2"} and path != Path(__file__)
            if read and word in path.read_text("utf-8"):
                found.append(str(path.relative_to(ROOT)))
    assert found == []
