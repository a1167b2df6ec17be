"""What a user of scripts/tools types and sees."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from toolbox import cli
from toolbox.table import SCRIPTS
from tools.workshop import Workshop


@pytest.fixture
def desk(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop whose table and cache the commands use."""
    monkeypatch.setattr(cli, "load", workshop.table)
    monkeypatch.setattr(cli, "this_machine", lambda: workshop.cache.machine)
    monkeypatch.setenv("CHARTGEN_TOOLS", str(workshop.cache.root))
    return workshop


def test_install_by_name(desk: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the named tool is installed; progress goes to stderr and nothing to stdout."""
    assert cli.main(["install", "widget"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("widget 1.2.3: building from source (about 1 s")
    assert desk.cache.missing(desk.tool("gadget"))


def test_install_without_a_name_takes_the_test_group(desk: Workshop) -> None:
    """`install` alone brings what the everyday tests need."""
    assert cli.main(["install"]) == 0
    assert desk.builds == 2


def test_failed_install_is_one_clear_error(
    desk: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failed install names the tool, shows the end of its output, says what to do and exits with 1."""
    monkeypatch.setenv("FAKE_GO_FAILS", "undefined: y")
    assert cli.main(["install", "widget"]) == 1
    lines = capsys.readouterr().err.splitlines()
    log = desk.cache.root / "logs" / "widget-1.2.3.log"
    assert lines[1] == f"scripts/tools: widget 1.2.3: the Go build of w failed (exit code 1; log: {log})"
    assert lines[-2] == "  | pkg/x.go:1: undefined: y"
    assert lines[-1].startswith("what to do: check that Go reaches a module proxy")


def test_path_of_a_missing_tool(desk: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """`path` of a tool that is not there says how to install it, and exits with 1."""
    assert cli.main(["path", "widget"]) == 1
    assert capsys.readouterr().err == (
        f"scripts/tools: widget 1.2.3 is not installed in {desk.cache.root}\n"
        "what to do: run: scripts/tools install widget\n"
    )


def test_path_of_a_tool_that_is_there(desk: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """`path` prints one line: the program."""
    cli.main(["install", "widget"])
    assert cli.main(["path", "widget"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == desk.cache.programs(desk.tool())["widget"]
    assert subprocess.check_output([path], text=True) == "version 1.2.3\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["install", "wigdet"], "unknown tool 'wigdet'\nwhat to do: did you mean widget?\n"),
        (["install", "--group", "tests"], "unknown group 'tests'\nwhat to do: did you mean test?\n"),
        (["path", "zzz"], "unknown tool 'zzz'\nwhat to do: known: widget, gadget\n"),
    ],
)
def test_unknown_names(desk: Workshop, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown name is answered with the nearest or with all known ones, and exit code 2."""
    assert cli.main(arguments) == 2
    assert capsys.readouterr().err == f"scripts/tools: {message}"
    assert desk.builds == 0


def test_list_says_what_is_there(desk: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """`list` shows each command with its version and its path, or how to get it."""
    cli.main(["install", "widget"])
    capsys.readouterr()
    assert cli.main(["list"]) == 0
    lines = [line.split(maxsplit=3) for line in capsys.readouterr().out.splitlines()]
    program = str(desk.cache.programs(desk.tool())["widget"])
    assert lines == [
        ["TOOL", "VERSION", "GROUP", "PATH"],
        ["widget", "1.2.3", "test", program],
        ["gadget", "1.2.3", "test", "missing: scripts/tools install gadget"],
    ]


def test_bin_is_a_folder_for_path(desk: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """`bin` prints a folder where each installed command runs under its own name."""
    cli.main(["install", "widget"])
    assert cli.main(["bin"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert [link.name for link in folder.iterdir()] == ["widget"]
    assert subprocess.check_output([folder / "widget"], text=True) == "version 1.2.3\n"
    assert folder.is_relative_to(desk.cache.root)


def test_terminated_install_ends_its_build(desk: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminated install ends the build it runs, removes what it built so far and exits with 130."""
    monkeypatch.setenv("FAKE_GO_SECONDS", "30")
    running = desk.start("install", "widget")
    desk.wait_for_a_build()
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=10) == 130
    assert not (desk.cache.root / "partial" / "widget").exists()


def test_list_can_be_cut_short() -> None:
    """A reader that closes early, such as `head`, gets no traceback."""
    with subprocess.Popen([SCRIPTS / "tools", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""


def test_real_script_runs_by_itself() -> None:
    """scripts/tools is executable, needs nothing but Python, and lists the pinned tools."""
    listed = subprocess.check_output([SCRIPTS / "tools", "list"], text=True, cwd="/")
    commands = {line.split()[0] for line in listed.splitlines()}
    assert commands >= {"helm3", "helm4", "kubectl", "kubeconform", "promtool"}
