"""The catalogue's flags held against a parser's own list: names, spellings, choices, words, defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.catalog.engine_types import Flag
from chartgen.catalog.engines import Engine

SERVE_ONLY: Final = frozenset(
    {"--config", "--headless", "--data-parallel-start-rank", "--api-server-count", "--grpc"},
)
"""Flags that only `vllm serve` adds, around the parser that is asked, in some releases."""
DEVICE: Final = frozenset({"--mm-processor-device"})
"""Flags whose values depend on the device, which is pretended here."""


def disagreements(release: Engine, actions: Mapping[str, Any]) -> list[str]:
    """Every difference between the catalogue and the parser, in sentences."""
    return [f"{release.release}: {said}" for said in _differences(release, actions)]


def _differences(release: Engine, actions: Mapping[str, Any]) -> Iterator[str]:
    missing = release.flags.keys() - actions.keys() - SERVE_ONLY
    extra = actions.keys() - release.flags.keys()
    yield from (f"the catalogue has {name}, the parser has not" for name in sorted(missing))
    yield from (f"the parser has {name}, the catalogue has not" for name in sorted(extra))
    for name in sorted(release.flags.keys() & actions.keys()):
        yield from _flag(release.flags[name], actions[name])


def _flag(flag: Flag, action: Mapping[str, Any]) -> Iterator[str]:
    ours = {flag.name, *flag.aliases, *flag.negations}
    if ours != set(action["spellings"]):
        yield f"{flag.name}: spelled {sorted(ours)}, the parser takes {action['spellings']}"
    choices = {str(choice) for choice in action["choices"] or () if choice not in {None, "None"}}
    if flag.name not in DEVICE and {str(choice) for choice in flag.choices} != choices:
        yield f"{flag.name}: choices {sorted(map(str, flag.choices))}, the parser enforces {sorted(choices)}"
    many = "" if action["nargs"] in {None, 0, "?"} else str(action["nargs"])
    if (flag.many if flag.many != "repeated" else "") != many:
        yield f"{flag.name}: takes {flag.many or 'one'} words, the parser {many or 'one'}"
    default = action["default"]
    known = not flag.default_from and not isinstance(default, dict) and default != "==SUPPRESS=="
    if known and _comparable(flag.default) != _comparable(default):
        yield f"{flag.name}: default {flag.default!r}, the parser's is {default!r}"


def _comparable(value: Any) -> Any:
    """A default without the difference between unset, off and empty that the kind of argument makes."""
    if value in (None, False, [], {}):
        return None
    return value
