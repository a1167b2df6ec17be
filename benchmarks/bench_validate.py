"""CPU time of the checks: objects a second by each schema check, and a chart through each Helm engine.

Prints, in one run: the CPU milliseconds from a cold start to the first checked Deployment; objects a second of the
embedded check, warm, on the good objects of the tests; the same objects through kubeconform, through the pure-Python
jsonschema with the same schemas, and their ratios; and the CPU milliseconds of lint and render of a small chart in
the Helm library and in a `helm` process. Ratios hold on a noisy machine, absolute times do not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from chartgen.validate import kubeconform  # noqa: E402
from chartgen.validate.embedded import check_objects  # noqa: E402
from chartgen.validate.helm import Binary, HelmEngine, Library  # noqa: E402
from validate.charts import FILES  # noqa: E402
from validate.samples import good, tool  # noqa: E402
from validate.strategies import oracle_errors  # noqa: E402

MINOR = "1.37"
COLD = """
import time
from chartgen.validate.embedded import check_objects
pod = {"spec": {"containers": [{"name": "a", "image": "b"}]}, "metadata": {"labels": {"a": "b"}}}
check_objects([("file", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
                         "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod}})], "1.37")
print(time.process_time())
"""


def cpu(work: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of one round, in this process and in those it starts; the best of three runs."""
    best = float("inf")
    for _ in range(3):
        before = os.times()
        for _ in range(rounds):
            work()
        after = os.times()
        best = min(best, sum(after[:4]) - sum(before[:4]))
    return best / rounds


def schemas() -> None:
    """Objects a second of each schema check."""
    command = [sys.executable, "-c", COLD]
    cold = min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5))
    print(f"cold start to the first Deployment   {cold * 1000:8.0f} ms CPU (Python itself included)")
    objects = [(sample.name, sample.object) for sample in good()]
    check_objects(objects, MINOR)
    ours = len(objects) / cpu(lambda: check_objects(objects, MINOR), 300)
    print(f"embedded check, warm                 {ours:8.0f} objects/s, {len(objects)} kinds of object")
    binary = tool("kubeconform")
    for count in (1, 50):
        theirs = len(objects) * count / cpu(lambda: kubeconform.check_objects(binary, objects * count, MINOR), 1)  # noqa: B023
        print(
            f"kubeconform, {len(objects) * count:5d} objects in a call  {theirs:8.0f} objects/s, {ours / theirs:.0f} x"
        )
    slow = len(objects) / cpu(lambda: [oracle_errors(content, MINOR) for _, content in objects], 3)
    print(f"pure-Python jsonschema               {slow:8.0f} objects/s, {ours / slow:.0f} x")


def charts() -> None:
    """Milliseconds of a chart in each Helm engine."""
    engines: list[tuple[str, HelmEngine, int]] = [("library", Library(), 100)]
    engines += [(name, Binary(tool(name)), 5) for name in ("helm3", "helm4")]
    for name, engine, rounds in engines:
        engine.template(FILES, release="one", namespace="two", kubernetes="1.34")
        render = cpu(lambda: engine.template(FILES, release="one", namespace="two", kubernetes="1.34"), rounds)  # noqa: B023
        lint = cpu(lambda: engine.lint(FILES, kubernetes="1.34"), rounds)  # noqa: B023
        print(f"{name:8} render {render * 1000:6.1f} ms CPU   lint {lint * 1000:6.1f} ms CPU")


def main() -> None:
    """Measure and print."""
    started = time.perf_counter()
    schemas()
    charts()
    print(f"({time.perf_counter() - started:.0f} s)")


if __name__ == "__main__":
    main()
