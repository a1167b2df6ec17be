"""A rendered container as a machine without a GPU can run it: every change is made here, and each is listed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chartgen.catalog.command_line import read
from chartgen.catalog.command_types import CommandLine
from chartgen.catalog.engine_spelling import words
from chartgen.catalog.engines import engine
from chartgen.kernel.decision import Json
from engine_lab import tiny
from engine_lab.container import Container
from engine_lab.environment import Environment, tcmalloc

AT_ONCE: Final = 4
"""Requests that run at once here: a CPU decodes a few hundred tokens a second."""
WAITING: Final = 4
"""Requests that may wait beside them where the chart sets a queue limit."""
_CACHE_GIB: Final = "1"
_GPU_ONLY: Final = {
    "--tensor-parallel-size": "one process serves",
    "--pipeline-parallel-size": "one process serves",
    "--data-parallel-size": "one process serves",
    "--enable-expert-parallel": "one process serves",
    "--kv-cache-dtype": "the CPU's kernels keep the cache in the model's type",
    "--quantization": "the tiny model is not quantized",
    "--speculative-config": "there is no draft of the tiny model",
    "--gpu-memory-utilization": "the size of the cache is given in GiB",
    "--block-size": "the CPU's kernels choose it",
    "--chat-template": "its file stands in the image",
}
"""Flags that need a GPU, weights or the image, with what takes their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """What is started here."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    port: int
    context: int
    """Tokens that one request may have."""
    served_name: str
    api_key: str | None
    queue_limit: int | None
    """How many requests may be in flight; None without a limit."""
    hook: float
    """Seconds that the hook sleeps before the stop signal."""
    drain: float
    """Seconds of drain as rendered; 0 without."""
    changes: tuple[str, ...]
    """Each change that the missing GPU forces, in words."""


def adapt(container: Container, release: str, environment: Environment, folder: Path, port: int) -> Adapted:
    """Change what the missing GPU forces, and nothing else."""
    line = read(command=container.command, args=container.args, env=container.env, engine=engine(release))
    if not isinstance(line, CommandLine) or line.program != "vllm serve":
        message = f"{container.chart}: the container does not run vllm serve: {container.command}"
        raise LookupError(message)
    changes: list[str] = []
    flags: dict[str, Json] = {}
    for argument in line.arguments:
        if argument.flag in _GPU_ONLY:
            changes.append(f"{argument.flag} left out: {_GPU_ONLY[argument.flag]}")
        else:
            name = argument.written if argument.how == "negation" else argument.flag
            flags[name] = argument.value if argument.value is not False else True  # type: ignore[assignment]
    length = flags.get("--max-model-len")
    context = length if isinstance(length, int) else tiny.CONTEXT
    made = tiny.write(folder / "model", container.architecture, context)
    changes.append(f"the model {line.model} is a tiny {made} of random weights{_instead(made, container)}")
    flags |= {"--load-format": "dummy", "--port": port}
    changes.append(f"the port is {port}: the container's own may be taken here")
    if "--max-num-seqs" in flags:
        changes.append(f"--max-num-seqs is {AT_ONCE} instead of {flags['--max-num-seqs']}: a CPU serves few at once")
        flags["--max-num-seqs"] = AT_ONCE
    limit = AT_ONCE + WAITING if "--max-num-queued-reqs" in flags else None
    if limit is not None:
        changes.append(
            f"--max-num-queued-reqs is {limit} instead of {flags['--max-num-queued-reqs']}, for the same reason"
        )
        flags["--max-num-queued-reqs"] = limit
    env, more = _environment(container, environment, folder)
    names = flags.get("--served-model-name")
    return Adapted(
        words=(
            str(environment.python),
            "-m",
            "vllm.entrypoints.cli.main",
            "serve",
            str(folder / "model"),
            *words(flags),
        ),
        env=env,
        port=port,
        context=context,
        served_name=str(names[0] if isinstance(names, list) else names or folder / "model"),
        api_key=env.get("VLLM_API_KEY"),
        queue_limit=limit,
        hook=float(container.pre_stop.get("sleep", {}).get("seconds", 0)),
        drain=float(_number(flags.get("--shutdown-timeout"))),
        changes=(*changes, *more),
    )


def _instead(made: str, container: Container) -> str:
    return "" if made == container.architecture else f": {container.architecture} has no tiny form here"


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _environment(container: Container, environment: Environment, folder: Path) -> tuple[dict[str, str], list[str]]:
    """The container's environment: paths of volumes under our folder, secrets made up, the CPU's needs added."""
    changes = []
    env = {"PATH": f"{environment.python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    for name, value in container.env.items():
        if value is None:
            env[name] = secrets.token_hex()
            changes.append(f"{name} is made up: its Secret is not here")
        elif value.startswith("/"):
            env[name] = str(folder / value.removeprefix("/"))
            Path(env[name]).mkdir(parents=True, exist_ok=True)
        else:
            env[name] = value
    needed = {"VLLM_CPU_KVCACHE_SPACE": _CACHE_GIB, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    changes += [f"{name}={value} is added" for name, value in needed.items() if name not in env]
    preload = [found for found in (tcmalloc(), environment.library("libiomp5.so")) if found]
    if preload:
        needed["LD_PRELOAD"] = ":".join(map(str, preload))
        changes.append(f"{' and '.join(path.name for path in preload)} preloaded: the CPU build wants them")
    return {**needed, **env, "HOME": str(folder)}, changes
