"""A temporary folder and the programs that run in it: both end together, also when this process is killed."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from cluster.errors import ClusterError

T = TypeVar("T")

LOOPBACK = "127.0.0.1"
_PORTS = range(20000, 32768)
"""Below those that Linux gives to outgoing connections, one of which may else be taken before a program has it."""
_LOG_LINES = 12
"""So many last lines of a log are shown when its program fails."""


@dataclass(frozen=True, slots=True)
class Program:
    """A running program, with the file that holds what it prints."""

    name: str
    """As messages call it."""
    process: subprocess.Popen[bytes]
    """The process, a member of the sandbox's group."""
    log: Path
    """Its standard output and standard error."""

    def check(self) -> None:
        """Raise ClusterError with the end of its log if the program has ended."""
        status = self.process.poll()
        if status is not None:
            ended = f"ended by signal {-status}" if status < 0 else f"ended with exit code {status}"
            raise ClusterError(f"{self.name} {ended}:\n{self.tail()}")

    def tail(self) -> str:
        """The last lines of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  | {line[:400]}" for line in lines[-_LOG_LINES:])

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.process.wait()


class Sandbox:
    """A temporary folder, a process group, and the keeper that ends both."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="chartgen-cluster-"))
        """Everything the programs write stands here."""
        self.programs: dict[str, Program] = {}
        """By name; a program that was started again replaces the earlier one."""
        self._at_end: list[Callable[[], None]] = []
        _open.add(self)
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("keeper.py")), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.group = self._keeper.pid
        """The process group of the keeper and of every program."""

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Program:
        """Start a program in the sandbox's folder and process group."""
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            try:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    env=environment,
                    process_group=self.group,
                )
            except OSError as error:
                raise ClusterError(f"{name} could not be started: {error}") from error
        self.programs[name] = Program(name, process, log)
        return self.programs[name]

    def stop(self, name: str) -> None:
        """End a program and forget it: nothing waits for it any more."""
        self.programs.pop(name).kill()

    def at_end(self, action: Callable[[], None]) -> None:
        """Have something done before the programs end, such as closing a connection to them."""
        self._at_end.append(action)

    def wait(self, ready: Callable[[], T | None], what: str, seconds: float) -> T:
        """The first true answer of `ready`; ClusterError when a program dies or the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            answer = ready()
            if answer:
                return answer
            self.check()
            if time.monotonic() > deadline:
                tails = "\n".join(f"{name}:\n{program.tail()}" for name, program in self.programs.items())
                raise ClusterError(f"{what} took longer than {seconds:.0f} s\n{tails}")
            time.sleep(0.02)

    def check(self) -> None:
        """Raise ClusterError with the end of its log if any program has ended by itself."""
        for program in list(self.programs.values()):
            program.check()

    def close(self) -> None:
        """End every program and remove the folder: the same way as after a crash, by the keeper."""
        _open.discard(self)
        for action in self._at_end:
            action()
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        self._keeper.wait()
        for program in list(self.programs.values()):
            program.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_open: set[Sandbox] = set()


def check_programs() -> None:
    """The same for the programs of every open sandbox."""
    for sandbox in list(_open):
        sandbox.check()


def must_be_free(port: int, what: str) -> None:
    """Raise ClusterError when something listens on a loopback port that `what` is to have."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError as error:
        raise ClusterError(f"{what} cannot have port {port} of {LOOPBACK}: {error}") from error


def listens(port: int) -> bool:
    """Whether something takes connections at a loopback port."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True


def free_ports(count: int) -> list[int]:
    """So many different ports of the loopback address that nothing listens on now; ClusterError if there are fewer."""
    ports = list(islice(filter(_is_free, random.sample(_PORTS, len(_PORTS))), count))
    if len(ports) < count:
        raise ClusterError(f"{count} free ports between {_PORTS[0]} and {_PORTS[-1]} are needed, and {len(ports)} are")
    return ports


def _is_free(port: int) -> bool:
    try:
        must_be_free(port, "a program")
    except ClusterError:
        return False
    return True
