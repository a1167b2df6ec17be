"""Ends a test cluster whatever happens to the process that started it.

Run as `python keeper.py FOLDER` in a process group of its own, which every program of the cluster joins. Its
standard input is a pipe that only the starter holds open: when the starter closes it, or dies in any way, the
keeper kills what is left of its group and removes the folder. Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

_PATIENCE = 10.0
"""Seconds in which a killed process must be gone."""


def members(group: int) -> list[int]:
    """The living processes of a group, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                state, _parent, of_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(of_group) == group and state not in {"Z", "X"}:
                found.append(int(entry.name))
    return found


def main() -> None:
    """Wait for the end of the starter, then clean up after it."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sys.stdin.buffer.read()
    deadline = time.monotonic() + _PATIENCE
    while (left := members(os.getpgrp())) and time.monotonic() < deadline:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.01)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
