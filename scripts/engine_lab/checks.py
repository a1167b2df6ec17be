"""What a running engine must show of its chart: probes, metrics, queue limit, idle connections, drain."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from engine_lab.adapted import AT_ONCE
from engine_lab.container import Container
from engine_lab.server import OK, Server, Stream

SHORT: Final = 8
"""Tokens of a request that only makes metrics move."""
_MEASURED: Final = 512
"""Tokens of the requests by which the rate is measured."""
_LONG_ENOUGH: Final = 4.0
"""Seconds over which a rate is measured at least."""
REFUSED: Final = 503
"""What the queue limit answers, without Retry-After."""
_DEFAULT_KEEP_ALIVE: Final = 5.0
"""Seconds after which the engine closes an idle connection when it is not told otherwise."""
_LONGER: Final = 2.0
_POLL: Final = 0.2
_BUSY: Final = 15.0
"""Seconds for which the requests of a full queue keep the engine busy."""
_WAVES: Final = 2
"""Half of the requests run and half wait."""
_SHARE: Final = 0.3
"""The part of the drain that the requests of the check may take: a busy machine is slower than its measured rate."""
_TYPE: Final = re.compile(r"# TYPE (\S+) (\S+)")
_SAMPLE: Final = re.compile(r"(vllm:[a-z0-9_]+)(?:\{(.*)\})? \S+")
_IN_FLIGHT: Final = re.compile(r"^vllm:num_requests_(?:running|waiting)\{.*\} (\S+)", re.MULTILINE)
_LABEL_NAME: Final = re.compile(r'([a-z_]+)="')

Series = Mapping[str, frozenset[str]]
"""Sample name to label names."""


def series(text: str) -> dict[str, frozenset[str]]:
    """Each vllm: sample of a /metrics page with its label names."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match:
            found.setdefault(match[1], set()).update(_LABEL_NAME.findall(match[2] or ""))
    return {name: frozenset(labels) for name, labels in found.items()}


def families(text: str) -> dict[str, dict[str, Any]]:
    """Each vllm: metric by query name, with type and labels: what is recorded."""
    samples = series(text)
    found: dict[str, dict[str, Any]] = {}
    for name, kind in _TYPE.findall(text):
        if not name.startswith("vllm:") or name.endswith("_created"):
            continue
        sample = f"{name}_count" if kind == "histogram" else name
        if sample in samples:
            found[name] = {"type": kind, "labels": sorted(samples[sample])}
    return dict(sorted(found.items()))


def missing_metrics(used: Series, shown: Series) -> list[str]:
    """Series and labels that the chart's objects name and the page does not show."""
    failures = [f"{name} is in no line of /metrics" for name in sorted(used) if name not in shown]
    for name in sorted(used.keys() & shown.keys()):
        failures += [f"{name} has no label {label}" for label in sorted(used[name] - shown[name])]
    return failures


def probes(server: Server, container: Container) -> list[str]:
    """Readiness and liveness answer within their own time-outs once the start-up probe has passed."""
    failures = []
    for name, probe in (("readiness", container.readiness), ("liveness", container.liveness)):
        status, _ = server.get(probe.path, probe.timeout)
        if status != OK:
            failures.append(f"the {name} probe gets {status} from {probe.path}")
    return failures


def metrics(server: Server, container: Container) -> list[str]:
    """After a request, every series that the chart asks for is there with its labels."""
    finished([server.stream(SHORT)])
    return missing_metrics(container.metrics, series(server.get("/metrics")[1]))


def idle_connection(server: Server, container: Container) -> list[str]:
    """A connection that idles past the engine's own default still answers, where the chart says so."""
    if "VLLM_HTTP_TIMEOUT_KEEP_ALIVE" not in container.env:
        return []
    connection = server.connection()
    try:
        for pause in (0.0, _DEFAULT_KEEP_ALIVE + _LONGER):
            time.sleep(pause)
            connection.request("GET", container.readiness.path)
            connection.getresponse().read()
    except OSError as error:
        return [f"the connection was closed after idling {_DEFAULT_KEEP_ALIVE + _LONGER:.0f} s: {error!r}"]
    finally:
        connection.close()
    return []


def queue_limit(server: Server) -> list[str]:
    """One request more than may be in flight is refused with 503 at once; the others are answered in full."""
    limit = server.adapted.queue_limit
    if limit is None:
        return []
    tokens = _tokens(server, _BUSY)
    _in_flight(server, lambda number: number == 0)
    streams = [server.stream(tokens) for _ in range(limit)]
    if not _in_flight(server, lambda number: number >= limit):
        finished(streams)
        said = "; ".join(sorted({_said(stream) for stream in streams}))
        return [f"{limit} requests were never in flight at once: {said}"]
    extra = server.stream(SHORT)
    finished([extra])
    finished(streams)
    failures = [f"request {number}: {_said(stream)}" for number, stream in enumerate(streams) if not stream.complete]
    if extra.status != REFUSED:
        failures.append(f"the request over the limit of {limit} gets {extra.status}, not {REFUSED}")
    rejected = "vllm:admission_rejections_total"
    page = server.get("/metrics")[1]
    if rejected in container_metrics(page) and not re.search(rf"{rejected}\{{[^}}]*\}} [1-9]", page):
        failures.append(f"{rejected} did not count it")
    return failures


def _in_flight(server: Server, enough: Callable[[float], bool]) -> bool:
    """Wait until as many requests run or wait as is wanted, for as long as they are meant to last."""
    until = time.monotonic() + _BUSY
    while time.monotonic() < until:
        page = server.get("/metrics")[1]
        if enough(sum(map(float, _IN_FLIGHT.findall(page)))):
            return True
        time.sleep(_POLL)
    return False


def container_metrics(page: str) -> set[str]:
    """Names on a /metrics page."""
    return set(series(page))


def drain(server: Server, container: Container) -> list[str]:
    """The rendered stop sequence: what runs and waits at the stop signal finishes, inside the grace period.

    Requests arrive until the hook ends, as they do until the endpoint is gone everywhere.
    """
    shortly = server.adapted.drain * _SHARE / _WAVES
    tokens = _tokens(server, shortly) if shortly else server.adapted.context - _MEASURED
    waited = _hook(container)
    streams = [server.stream(tokens) for _ in range(AT_ONCE * _WAVES)]
    if not _in_flight(server, lambda number: number >= len(streams)):
        return [f"{len(streams)} streams were never in flight at once: the check needs longer ones"]
    try:
        took = server.stop(container.grace - waited)
    except TimeoutError as error:
        return [str(error)]
    finished(streams)
    failures = [f"stream {number}: {_said(stream)}" for number, stream in enumerate(streams) if not stream.complete]
    if server.process.returncode != 0:
        failures.append(f"the engine ended with {server.process.returncode}")
    print(f"  stop: hook {waited:.0f} s, then {took:.0f} s with {len(streams)} in flight, of {container.grace:.0f} s")
    print(f"  {len(streams) - len(failures)} of {len(streams)} streams finished, half of them had to wait", flush=True)
    return failures


def _hook(container: Container) -> float:
    """Run the hook before the stop signal, as rendered; the seconds it took."""
    begun = time.monotonic()
    hook = container.pre_stop
    if "sleep" in hook:
        time.sleep(float(hook["sleep"]["seconds"]))
    elif "exec" in hook:
        subprocess.run(hook["exec"]["command"], check=False, timeout=container.grace)
    return time.monotonic() - begun


def _tokens(server: Server, seconds: float) -> int:
    """How many tokens each of a full batch gets in a time, by measuring: no more than the context holds."""
    most = server.adapted.context - _MEASURED
    measured = _MEASURED
    took = _timed(server, measured)
    while took < _LONG_ENOUGH and measured < most:
        measured = min(most, measured * _WAVES)
        took = _timed(server, measured)
    return max(SHORT, min(most, int(measured / took * seconds)))


def _timed(server: Server, tokens: int) -> float:
    begun = time.monotonic()
    finished([server.stream(tokens) for _ in range(AT_ONCE)])
    return time.monotonic() - begun


def finished(streams: Iterable[Stream]) -> None:
    """Wait until every stream has ended, one way or the other."""
    for stream in streams:
        if stream.thread is not None:
            stream.thread.join()


def _said(stream: Stream) -> str:
    ended = stream.error.strip() or f"ended by {stream.ended or 'nothing'}"
    return f"status {stream.status}, {stream.parts} parts of {stream.tokens}, {ended}"
