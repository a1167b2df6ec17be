"""The linter's CPU time and memory, beside other linters on the same file: python benchmarks/bench_lint.py [--alone].

The input is the ready charts in out/, rendered, again and again in namespaces of their own. A document has 1,000 bytes
on average, so that 5 MB are 5,000: the small objects of each chart stand there under more names until that holds.
Every program runs in a process of its own, from compiled code. Seconds are user and system time, the lightest of some
runs; a busy machine makes all of them longer, so compare within one call. What misses its aim is said at the end.

The other linters are installed once, at the versions below, into chartgen/linters of the user's cache.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LINT: Final = [str(Path(sys.executable).with_name("chartgen")), "lint", "--level", "strict"]
OTHERS: Final = {
    "yamllint==1.38.0": ["yamllint", "--config-data", "relaxed"],
    "kubernetes-validate==1.37.0": ["kubernetes-validate", "--strict"],
    "checkov==3.3.30": ["checkov", "--framework", "kubernetes", "--compact", "--quiet", "--file"],
}
"""By requirement, the words that make another linter judge a file."""

CHARTS: Final = ("chat-70b", "assistant-14b", "batch-8b")
SMALL: Final = re.compile("^kind: (Service|ServiceAccount|PersistentVolumeClaim)$", re.MULTILINE)
DOCUMENT: Final = 1_000
"""Bytes, on average."""

MEGABYTE: Final = 1_000_000
SIZES: Final = (5, 50)
SECONDS: Final = 2.5
"""What 5 MB with 5,000 documents may take."""
START: Final = 0.25
"""What one Deployment may take, in seconds."""
GROWTH: Final = 1.2
"""How much more one megabyte of 50 may take than one of 5, in time and in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run of a program took."""

    seconds: float
    mebibytes: float

    def line(self, title: str, more: str = "") -> str:
        """One row of the table."""
        return f"{title.ljust(38)}{self.seconds:8.2f} s{self.mebibytes:7.0f} MiB  {more}".rstrip()


def releases() -> list[list[str]]:
    """The documents of each ready chart, with marks where the number of a copy goes."""
    from chartgen.validate import chart_files  # noqa: PLC0415 - the measuring process stays small: children inherit it
    from chartgen.validate.helm import engine  # noqa: PLC0415

    found = []
    for chart in CHARTS:
        texts = engine().template(chart_files.read(ROOT / "out" / chart), release="release-zzz", namespace="")
        parts = [part for name, text in texts.items() if "tests/" not in name for part in text.split("\n---\n")]
        placed = f"\nmetadata:\n  namespace: {chart}-zzz\n"
        found.append([part.strip("\n").replace("\nmetadata:\n", placed, 1) for part in parts])
    return found


def write(folder: Path) -> None:
    """Write the files to judge: one Deployment, and streams of so many megabytes."""
    charts = releases()
    deployment = next(text for text in charts[0] if "\nkind: Deployment\n" in f"\n{text}")
    (folder / "deployment.yaml").write_text(deployment, encoding="utf-8")
    for size in (1, *SIZES):
        stream(folder / f"{size}.yaml", size * MEGABYTE, charts)


def stream(path: Path, size: int, charts: list[list[str]]) -> None:
    """Write at least so many bytes, and the documents that belong to them."""
    length = number = copy = 0
    with path.open("w", encoding="utf-8") as out:
        while length < size:
            copy += 1
            for chart in charts:
                texts = [text.replace("zzz", str(copy)) for text in chart]
                small = [text for text in texts if SMALL.search(text)]
                more = 0
                while texts:
                    for text in texts:
                        length += out.write(f"---\n{text}\n")
                    number += len(texts)
                    more += 1
                    enough = length <= number * DOCUMENT
                    texts = [] if enough else [text.replace("name: ", f"name: more-{more}-", 1) for text in small]


def run(words: list[str], rounds: int = 1, *, good: bool = True) -> Run:
    """The lightest run of a program and its children; a `good` one ends with exit code 0."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = []
    for _ in range(rounds):
        quiet = subprocess.DEVNULL
        program = subprocess.Popen(words, stdout=quiet, stderr=quiet, env=environment)
        _, status, usage = os.wait4(program.pid, 0)
        if good and status:
            sys.exit(f"{' '.join(words)} ended with status {status}")
        runs.append(Run(seconds=usage.ru_utime + usage.ru_stime, mebibytes=usage.ru_maxrss / 1024))
    return min(runs, key=lambda one: one.seconds)


def linters() -> Path:
    """The programs of the other linters, installed where they are not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "chartgen" / "linters" / "-".join(sorted(OTHERS))
    done = folder / "complete"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *OTHERS], check=True)
        done.touch()
    return folder / "bin"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", action="store_true", help="leave the other linters out")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = multiprocessing.Process(target=write, args=(folder,))
        writer.start()
        writer.join()
        if writer.exitcode:
            sys.exit("the input could not be written")
        missed = ours(folder, options.rounds)
        if not options.alone:
            beside(folder / "1.yaml", options.rounds)
    print(*missed or ["every aim is met"], sep="\n")


def ours(folder: Path, rounds: int) -> list[str]:
    """Measure the linter; the aims that it misses."""
    print(run([sys.executable, "-c", "pass"], rounds).line("python -c pass"))
    print(run([sys.executable, "-c", "import yaml, click"], rounds).line("python -c 'import yaml, click'"))
    start = run([*LINT, str(folder / "deployment.yaml")], 2 * rounds)
    print(start.line("chartgen lint, one Deployment", f"aim: {START} s"))
    small = run([*LINT, str(folder / f"{SIZES[0]}.yaml")], rounds)
    large = run([*LINT, str(folder / f"{SIZES[1]}.yaml")])
    documents = (folder / f"{SIZES[0]}.yaml").read_text(encoding="utf-8").count("---\n")
    print(small.line(f"chartgen lint, {SIZES[0]} MB, {documents} documents", f"aim: {SECONDS} s"))
    times = SIZES[1] / SIZES[0]
    growth = [
        (large.seconds - start.seconds) / (small.seconds - start.seconds) / times,
        (large.mebibytes - start.mebibytes) / (small.mebibytes - start.mebibytes) / times,
    ]
    each = f"for each MB {growth[0]:.2f} x the time, {growth[1]:.2f} x the memory; aim: {GROWTH} x"
    print(large.line(f"chartgen lint, {SIZES[1]} MB", each))
    missed = {
        f"the start takes {start.seconds:.2f} s": start.seconds > START,
        f"{SIZES[0]} MB take {small.seconds:.2f} s": small.seconds > SECONDS,
        f"{SIZES[1]} MB take more than {times:.0f} times what {SIZES[0]} MB take": max(growth) > GROWTH,
    }
    return [f"missed: {text}" for text, true in missed.items() if true]


def beside(file: Path, rounds: int) -> None:
    """Measure other linters on the same file."""
    mine = run([*LINT, str(file)], rounds)
    print(mine.line(f"chartgen lint, {file.stem} MB"))
    programs = linters()
    for requirement, words in OTHERS.items():
        theirs = run([str(programs / words[0]), *words[1:], str(file)], good=False)
        print(theirs.line(f"{requirement}, the same", f"{theirs.seconds / mine.seconds:.0f} x"))


if __name__ == "__main__":
    main()
