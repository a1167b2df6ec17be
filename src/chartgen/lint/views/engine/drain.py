"""How an engine stops: the hook, the engine's own drain, and the time that Kubernetes gives both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from chartgen.catalog.shell_words import commands
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import items, mapping
from chartgen.lint.servers import words_of
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.command import SHELLS
from chartgen.lint.views.engine.container import Container

_SLEEP: Final = re.compile(r"\bsleep\s+\"?(\d+)(?:\.\d+)?([smh]?)\"?(?=$|[\s;&|)'\"])|time\.sleep\(\s*(\d+)")
_PORT: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(\d+)")
_LOOP: Final = re.compile(r"\b(while|until|for)\b")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainView:
    """How an engine stops."""

    hook: Literal["none", "sleep", "script", "http"]
    """What the preStop hook does."""
    hook_seconds: Maybe[int]
    """How long the hook takes: its sleep; 0 without a hook."""
    hook_port: int | None
    """The local port that the hook asks; null when it asks none."""
    server_seconds: Maybe[int]
    """How long the engine goes on with running requests after the signal: --shutdown-timeout; 0 drops them."""
    grace: int
    """Seconds between the signal to stop and the kill, the hook's time included."""
    signal_lost: bool
    """Whether a shell stands between the signal and the engine, and does not pass it on."""
    at: tuple[Step, ...]
    """Where the hook stands, or would."""


def drain_view(container: Container, grace: int, shutdown: Maybe[Json]) -> DrainView:
    """How a container stops."""
    lifecycle = mapping(container.value.get("lifecycle"))
    hook = mapping(lifecycle.get("preStop"))
    kind, seconds, port = _hook(hook)
    server: Maybe[int] = shutdown if isinstance(shutdown, Unknown) else shutdown if isinstance(shutdown, int) else 0
    return DrainView(
        hook=kind,
        hook_seconds=seconds,
        hook_port=port,
        server_seconds=server,
        grace=grace,
        signal_lost=_signal_lost(container.value),
        at=(*container.path, "lifecycle", "preStop"),
    )


def _hook(hook: Mapping[str, Any]) -> tuple[Literal["none", "sleep", "script", "http"], Maybe[int], int | None]:
    if "sleep" in hook:
        seconds = mapping(hook["sleep"]).get("seconds")
        return "sleep", seconds if isinstance(seconds, int) else 0, None
    if "httpGet" in hook:
        return "http", 0, None
    text = " ".join(map(str, items(mapping(hook.get("exec")).get("command"))))
    if not text:
        return "none", 0, None
    port = _PORT.search(text)
    number = whole_number(port[1]) if port else None
    if _LOOP.search(text):
        return "script", Unknown(because="the preStop hook waits in a loop", run="time it in a running pod"), number
    total = sum((whole_number(found[1] or found[3]) or 0) * _UNITS[found[2] or ""] for found in _SLEEP.finditer(text))
    return "sleep" if total else "script", total, number


def _signal_lost(container: Mapping[str, Any]) -> bool:
    """Whether a shell stays the first process: it runs several commands and does not end in exec.

    A shell that runs one simple command replaces itself by it (bash, dash 0.5.11 and later).
    """
    words = words_of(container)
    for number, word in enumerate(words[:-1]):
        if word.rsplit("/", 1)[-1] in SHELLS:
            script = next((one for one in words[number + 1 :] if not one.startswith("-")), "")
            return _shell_stays(script) if any(one.startswith("-") for one in words[number + 1 : -1]) else False
    return False


def _shell_stays(script: str) -> bool:
    found = [[word.text for word in command.words] for command in commands(script, {})]
    found = [
        words for words in found if words and words[0] not in {"set", "export", "ulimit", "trap", "cd", "source", "."}
    ]
    if len(found) <= 1 and not script.rstrip().endswith("&"):
        return False
    serving = [words for words in found if any("vllm" in word or "launch_server" in word for word in words[:4])]
    if "trap " in script:
        return False
    return bool(serving) and serving[-1][0] != "exec"
