"""What people write to start vLLM, read into one normal form.

Lists of words, shell strings with quotes, `exec` and continuations, $(VAR) of Kubernetes, wrappers, the engine's
own config file: all become a `CommandLine`, or an honest "cannot tell".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from chartgen.catalog.command_config import config_words
from chartgen.catalog.command_parse import Parsed, Token, parse
from chartgen.catalog.command_types import (
    CannotTell,
    CommandLine,
    NotAnEngine,
    Place,
    Problem,
    Reading,
    Unresolved,
    Value,
)
from chartgen.catalog.shell_words import Command, commands

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh"})
_SERVERS: Final = frozenset({"vllm.entrypoints.openai.api_server", "vllm.entrypoints.launchers.api_server.entry"})
_BATCH: Final = "vllm.entrypoints.openai.run_batch"
_VARIABLE: Final = re.compile(r"\$(\$*)\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_MENTIONS: Final = re.compile(r"\bvllm\b")

Program = Literal["vllm serve", "api server", "image entry point", "mixed"]


def read(
    *,
    command: Sequence[str],
    args: Sequence[str],
    env: Mapping[str, str | None],
    engine: Engine,
    files: Mapping[str, str] | None = None,
    image_starts_engine: bool = False,
    release_certain: bool = True,
) -> Reading:
    """Read the command line of a container.

    Args:
        command: the container's command, which replaces the image's entry point; empty when it is not given.
        args: the container's args.
        env: its environment; None for a value that comes from elsewhere.
        engine: the release to read it with.
        files: text of files that are mounted from the same manifests, by path: config files, start scripts.
        image_starts_engine: whether the image's own entry point starts the server.
        release_certain: whether `engine` is known to be what the image holds.
    """
    words = [
        *(_token(text, Place(list="command", index=index), env) for index, text in enumerate(command)),
        *(_token(text, Place(list="args", index=index), env) for index, text in enumerate(args)),
    ]
    if not command and image_starts_engine and not _is_shell(args):
        return _finish("image entry point", words, env, engine, files or {}, certain=release_certain)
    return _started(words, env, engine, files or {}, certain=release_certain)


def read_mixed(
    *, args: Sequence[str], env: Mapping[str, str | None], engine: Engine, release_certain: bool
) -> CommandLine:
    """Read the arguments of another server that takes the engine's options among its own, as KServe's does."""
    words = [_token(text, Place(list="args", index=index), env) for index, text in enumerate(args)]
    return _finish("mixed", words, env, engine, {}, certain=release_certain)


def _is_shell(words: Sequence[str]) -> bool:
    return bool(words) and words[0].rsplit("/", 1)[-1] in _SHELLS


def _token(text: str, place: Place, env: Mapping[str, str | None]) -> Token:
    """A word after Kubernetes' own expansion of $(VAR); a name that is not set stays as it is."""
    needs: list[str] = []

    def expand(match: re.Match[str]) -> str:
        escapes, name = match[1], match[2]
        if len(escapes) % 2:
            return "$" * (len(escapes) // 2 + 1) + f"({name})"
        if name not in env:
            return match[0]
        value = env[name]
        if value is None:
            needs.append(name)
            return match[0]
        return "$" * (len(escapes) // 2) + value

    return Token(text=_VARIABLE.sub(expand, text), place=place, unresolved=tuple(needs))


def _started(
    words: Sequence[Token],
    env: Mapping[str, str | None],
    engine: Engine,
    files: Mapping[str, str],
    *,
    certain: bool,
) -> Reading:
    script = _script(words, files)
    if script is not None:
        return _from_script(*script, env, engine, files, certain=certain)
    found = _program(words)
    if found is not None:
        program, rest = found
        return _finish(program, rest, env, engine, files, certain=certain)
    if any(_MENTIONS.search(word.text) for word in words):
        shown = " ".join(word.text for word in words[:4])
        return CannotTell(because=f"{shown} mentions vllm and does not start its server in a way that is known")
    return NotAnEngine(because="no word starts vLLM's server")


def _script(words: Sequence[Token], files: Mapping[str, str]) -> tuple[Token, Sequence[Token]] | None:
    """The shell script among the words (what follows -c, or a script file that is at hand), and its "$@"."""
    for number, word in enumerate(words):
        if word.text.rsplit("/", 1)[-1] not in _SHELLS:
            continue
        for position, option in enumerate(words[number + 1 :], number + 1):
            if not option.text.startswith("-"):
                text = files.get(option.text)
                rest = words[position + 1 :]
                return None if text is None else (Token(text=text, place=option.place), rest)
            if not option.text.startswith("--") and option.text.endswith("c") and position + 1 < len(words):
                return words[position + 1], words[position + 3 :]  # the word between is $0
    if words and words[0].text in files and files[words[0].text].startswith("#!"):
        return Token(text=files[words[0].text], place=words[0].place), words[1:]
    return None


def _from_script(
    script: Token,
    parameters: Sequence[Token],
    env: Mapping[str, str | None],
    engine: Engine,
    files: Mapping[str, str],
    *,
    certain: bool,
) -> Reading:
    found: list[tuple[Program, list[Token], list[str], Command]] = []
    for command in commands(script.text, env):
        tokens, gaps = list[Token](), list[str]()
        for word in command.words:
            if word.text == "$@":
                tokens += parameters
                continue
            if word.splits:
                gaps.append(word.text)
                continue
            place = Place(list=script.place.list, index=script.place.index, line=word.line)
            tokens.append(Token(text=word.text, place=place, unresolved=word.unresolved))
        started = _program(tokens)
        if started is not None:
            found.append((started[0], list(started[1]), gaps, command))
    if not found:
        if _MENTIONS.search(script.text):
            return CannotTell(because="the script mentions vllm and does not start its server in a way that is known")
        return NotAnEngine(because="the script does not start vLLM's server")
    if len(found) > 1:
        return CannotTell(because=f"the script starts vLLM's server in {len(found)} places")
    program, tokens, gaps, command = found[0]
    return _finish(program, tokens, command.variables, engine, files, gaps=gaps, certain=certain)


def _program(words: Sequence[Token]) -> tuple[Program, Sequence[Token]] | None:
    """The server's program among wrappers such as exec, env, tini or numactl, and the words after it."""
    for number, word in enumerate(words):
        name = word.text.rsplit("/", 1)[-1]
        following = words[number + 1].text if number + 1 < len(words) else ""
        if name == "vllm" and following == "serve":
            return "vllm serve", words[number + 2 :]
        if word.text == "-m" and following in _SERVERS:
            return "api server", words[number + 2 :]
        if (name == "vllm" and following == "run-batch") or (word.text == "-m" and following == _BATCH):
            return "mixed", words[number + 2 :]
        if word.text == "-m" and following in {"vllm", "vllm.entrypoints.cli.main"}:
            served = words[number + 2 :]
            return ("vllm serve", served[1:]) if served and served[0].text == "serve" else None
    return None


def _finish(
    program: Program,
    words: Sequence[Token],
    env: Mapping[str, str | None],
    engine: Engine,
    files: Mapping[str, str],
    *,
    gaps: Sequence[str] = (),
    certain: bool,
) -> CommandLine:
    missing = list(gaps)
    repeated, words = _repeated(program, words)
    parsed = parse([*config_words(words, engine, files, missing), *words], engine)
    model, problems = _model(program, parsed, engine, missing)
    if program == "mixed":
        # Options of its own stand in no release's list: none is called wrong.
        parsed.problems.clear()
        problems.clear()
    return CommandLine(
        program=program,
        model=model,
        arguments=tuple(argument for argument in parsed.arguments if argument.flag != "--model"),
        problems=(*repeated, *parsed.problems, *problems),
        gaps=tuple(missing),
        env=dict(env),
        release_certain=certain,
    )


def _repeated(program: Program, words: Sequence[Token]) -> tuple[list[Problem], Sequence[Token]]:
    """The program written again after an entry point that is it already."""
    again = _program(words) if program == "image entry point" else None
    length = 0 if again is None else len(words) - len(again[1])
    if again is None and program == "image entry point" and words and words[0].text == "serve":
        length = 1
    if not length:
        return [], words
    written = " ".join(word.text for word in words[:length])
    problem = Problem(
        kind="repeated program",
        written=written,
        place=words[0].place,
        message=f"the image's entry point starts the server already: {written} is read as arguments",
        instead="command with the whole program, or args with the model and flags only",
    )
    return [problem], words[length:]


def _model(program: Program, parsed: Parsed, engine: Engine, gaps: Sequence[str]) -> tuple[Value, list[Problem]]:
    """The model, and the words that stand where only one model may."""
    named = [argument for argument in parsed.arguments if argument.flag == "--model"]
    takes_word = program not in {"api server", "mixed"}
    positional = parsed.positional[:1] if takes_word else []
    problems = [
        Problem(kind="stray word", written=word.text, place=word.place, message=f"{word.text!r} belongs to no flag")
        for word in parsed.positional[len(positional) :]
    ]
    if named and program == "vllm serve" and engine.behaviour.model_option == "refused":
        message = f"vllm serve takes the model as a word up to 0.11.0 and refuses --model on {engine.release}"
        problems.append(
            Problem(
                kind="model as option",
                written=named[0].written,
                place=named[0].place,
                message=message,
                instead="the model as first word after serve",
            ),
        )
    if positional:
        word = positional[0]
        return (Unresolved(text=word.text, needs=word.unresolved) if word.unresolved else word.text), problems
    if named:
        return named[-1].value, problems
    if not gaps:
        problems.append(
            Problem(
                kind="no model",
                written="",
                place=Place(list="args", index=0),
                message="no model is given: the engine serves its built-in default",
                instead="the model as first word after serve" if program == "vllm serve" else "--model",
            ),
        )
    return None, problems
