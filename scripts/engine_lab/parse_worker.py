"""Runs inside an environment with a release's sources on the path: feeds command lines to its own parser.

Reads a JSON task from the file named first on the command line and writes the answers to the file named second.
Level 1 parses; level 2 also builds the engine's configuration against a folder that holds a config.json.
No device is touched: without a GPU the release would refuse to build its parser, so a platform that only calls
itself CUDA stands in for the one it does not find (level 2 uses the release's own CPU platform).
"""

# ruff: noqa: SLF001 - argparse keeps its actions, and vLLM its platform, in private names

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

PARSERS = (
    "vllm.entrypoints.common.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.openai.cli_args",
)
ARGPARSE = ("vllm.utils.argparse_utils", "vllm.utils")


def first(*names: str) -> ModuleType:
    """The first of these modules that the release has; any other failure to import is shown."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not name.startswith(str(error.name)):
                raise
    message = f"none of {', '.join(names)} is in this release"
    raise SystemExit(message)


def pretend_a_gpu() -> None:
    """Put a platform in place that calls itself CUDA and can do nothing."""
    platforms: Any = importlib.import_module("vllm.platforms")
    base: Any = importlib.import_module("vllm.platforms.interface").UnspecifiedPlatform
    members = {"device_type": "cuda", "device_name": "cuda"}
    platforms._current_platform = type("PretendGpu", (base,), members)()


def actions(parser: Any) -> dict[str, dict[str, Any]]:
    """What the parser knows: each long option with its spellings, choices, count of words and default."""
    spelled: dict[int, list[str]] = {}
    for name, action in parser._option_string_actions.items():
        spelled.setdefault(id(action), []).append(name)
    found = {}
    for action in parser._actions:
        long = [name for name in action.option_strings if name.startswith("--")]
        if long and long[0] != "--help":
            found[long[0]] = {
                "spellings": sorted(spelled[id(action)]),
                "choices": None if action.choices is None else [plain(choice) for choice in action.choices],
                "nargs": action.nargs,
                "default": plain(action.default),
            }
    return found


def plain(value: Any) -> Any:
    """A value as JSON can say it; anything else by its type."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return {"type": type(value).__name__}


def verdict(parser: Any, cli: ModuleType, words: list[str], folder: str | None) -> str:
    """The word ok, or the last words of the parser."""
    log = io.StringIO()
    try:
        with contextlib.redirect_stderr(log):
            args = parser.parse_args(words)
            cli.validate_parsed_serve_args(args)
            if folder is not None:
                configure(args, folder)
    except SystemExit:
        return log.getvalue().strip().splitlines()[-1]
    except Exception as error:  # noqa: BLE001 - whatever the release raises is its answer
        return f"{type(error).__name__}: {error}"
    return "ok"


def configure(args: Any, folder: str) -> None:
    """Build the engine's configuration, the model replaced by a folder with its config.json.

    There is no tokenizer, so the reasoning parser, which wants one, is left to level 1 and the catalogue.
    """
    args.model = args.model_tag = folder
    args.skip_tokenizer_init = True
    args.reasoning_parser = ""
    engine_args: Any = importlib.import_module("vllm.engine.arg_utils").AsyncEngineArgs.from_cli_args(args)
    usage: Any = importlib.import_module("vllm.usage.usage_lib").UsageContext.OPENAI_API_SERVER
    engine_args.create_engine_config(usage_context=usage)


def main() -> None:
    """Answer the task."""
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if task["level"] == 1:
        pretend_a_gpu()
    cli = first(*PARSERS)
    parser = cli.make_arg_parser(first(*ARGPARSE).FlexibleArgumentParser(prog="vllm serve"))
    if not any(action.dest == "model_tag" for action in parser._actions):
        parser.add_argument("model_tag", nargs="?")
    answers = {
        "actions": actions(parser),
        "verdicts": [verdict(parser, cli, line["words"], line.get("folder")) for line in task["lines"]],
    }
    Path(sys.argv[2]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
