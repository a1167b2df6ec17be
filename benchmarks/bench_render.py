"""CPU time of rendering: one process beside `helm template` of the same chart, and 500 profiles in one call.

kubeconform is kept off PATH: it is a process of its own for every chart, and a second opinion.
Prints, in one run: the CPU seconds of a whole `chartgen render`, those of `helm template`, their ratio (aim: at
most 4), the CPU milliseconds of each profile beyond the first (aim: at most 15, every check on), and how much the
peak memory grows from 100 to 500 profiles. Ratios hold on a noisy machine, absolute times do not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHARTGEN = Path(sys.executable).with_name("chartgen")
MODELS = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-14B-Instruct", "meta-llama/Llama-3.3-70B-Instruct")
CARDS = ("H100", "H200", "A100-80GB")


def measured(command: list[str | Path]) -> tuple[float, int]:
    """CPU seconds and peak memory (KiB) of a command, its children included."""
    environment = os.environ | {"PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed with {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def median_cpu(command: list[str | Path], runs: int = 9) -> float:
    """Median CPU seconds of a command."""
    return statistics.median(measured(command)[0] for _ in range(runs))


def profiles(folder: Path, count: int) -> list[Path]:
    """So many different profiles."""
    written = []
    for number in range(count):
        path = folder / f"bench-{number}.yaml"
        model, card = MODELS[number % 3], CARDS[number // 3 % 3]
        path.write_text(
            f"model: {model}\ngpu: {card}\ncontext: {4 + number % 5}k\nregion: lab\n"
            f"traffic: {{requests_per_second: {1 + number % 17}}}\n",
            encoding="utf-8",
        )
        written.append(path)
    return written


def main() -> None:
    """Measure and print."""
    helm = subprocess.run(
        [sys.executable, ROOT / "scripts" / "tools", "path", "helm4"], capture_output=True, text=True, check=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        render = median_cpu([CHARTGEN, "render", ROOT / "profiles" / "chat-70b.yaml", "-o", folder / "out"])
        template = median_cpu([helm, "template", folder / "out" / "chat-70b"])
        print(f"render, one process     {render * 1000:7.0f} ms CPU")
        print(f"helm template           {template * 1000:7.0f} ms CPU")
        print(f"ratio                   {render / template:7.1f}   (aim: at most 4)")
        paths = profiles(folder, 500)
        one, _ = measured([CHARTGEN, "render", *paths[:1], "-o", folder / "one"])
        _, small = measured([CHARTGEN, "render", *paths[:100], "-o", folder / "small"])
        many, large = measured([CHARTGEN, "render", *paths, "-o", folder / "many"])
        print(f"each of 499 more        {(many - one) / 499 * 1000:7.1f} ms CPU (aim: at most 15)")
        print(f"peak memory 100 -> 500  {small / 1024:7.0f} -> {large / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
