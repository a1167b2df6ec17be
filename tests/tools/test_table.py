"""The table of pinned tools is complete, and agrees with the Go modules beside it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml

from toolbox.golang import needed_by
from toolbox.table import SCRIPTS, GoBuild, ModuleFiles, Tool, ToolError, Wheel, load

TABLE = load()
TOOLS = pytest.mark.parametrize("tool", TABLE.tools.values(), ids=lambda tool: tool.name)
GO_BUILDS = [(tool, source) for tool in TABLE.tools.values() for source in tool.sources if isinstance(source, GoBuild)]


@TOOLS
def test_every_row_says_what_it_is(tool: Tool) -> None:
    """Each tool has a version, a known group, a home, a licence, a program and a way to check it."""
    assert re.match(r"\d+\.\d+", tool.version)
    assert tool.group in {"test", "cluster", "controllers", "build"}
    assert tool.home.startswith("https://")
    assert tool.about
    assert tool.licence
    assert bool(tool.programs) == bool(tool.check) == (not isinstance(tool.sources[0], ModuleFiles))
    assert tool.expect


@TOOLS
def test_every_tool_can_be_had_on_linux(tool: Tool) -> None:
    """Each tool has a source for Linux on x86-64 and on arm64."""
    for machine in ("linux-x86_64", "linux-aarch64"):
        assert tool.source(machine).serves(machine)


@TOOLS
def test_every_source_is_pinned(tool: Tool) -> None:
    """A wheel or module has a version and checksums; a Go build makes each program of its tool."""
    for source in tool.sources:
        if isinstance(source, ModuleFiles):
            assert source.module.endswith(f"@v{tool.version}")
            assert re.fullmatch(r"h1:[A-Za-z0-9+/]{43}=", source.sum)
        elif isinstance(source, Wheel):
            assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", source.wheel)
            assert all(re.fullmatch(r"[0-9a-f]{64}", checksum) for checksum in source.sha256.values())
        else:
            assert set(tool.programs.values()) == set(source.packages)


@pytest.mark.parametrize(("tool", "source"), GO_BUILDS, ids=lambda value: getattr(value, "name", ""))
def test_every_go_module_pins_what_is_built(tool: Tool, source: GoBuild) -> None:
    """Each built package stands in its go.mod as a tool, and the pinned Go is new enough for the module."""
    del tool
    module = (source.go / "go.mod").read_text()
    assert (source.go / "go.sum").stat().st_size
    for package in source.packages.values():
        assert re.search(rf"^\s*(tool )?{re.escape(package)}$", module, re.MULTILINE)
    assert needed_by(source.go / "go.mod") <= tuple(map(int, TABLE.tools["go"].version.split(".")))


def test_no_go_module_is_left_over() -> None:
    """Every folder under scripts/go belongs to a row of the table."""
    assert {path.name for path in (SCRIPTS / "go").iterdir()} == {source.go.name for _, source in GO_BUILDS}


def test_schemas_and_definitions_are_of_one_version() -> None:
    """Where schemas of a project are embedded, its custom resource definitions are those they are generated from."""
    sources = yaml.safe_load((SCRIPTS / "schemagen" / "sources.yaml").read_text())["custom"]
    schemas = {row["module"]: row["version"] for row in sources}
    for tool in TABLE.tools.values():
        for source in tool.sources:
            if isinstance(source, ModuleFiles):
                module, version = source.module.split("@")
                assert schemas.get(module, version) == version


def test_commands_are_unique() -> None:
    """No two tools bring the same command."""
    commands = Counter(command for tool in TABLE.tools.values() for command in tool.programs)
    assert max(commands.values()) == 1


def test_unknown_name_gets_the_nearest() -> None:
    """A mistyped name is answered with the nearest known one, and exit code 2."""
    with pytest.raises(ToolError, match="unknown tool 'kubeconfrom'") as caught:
        TABLE.find("kubeconfrom")
    assert caught.value.advice == "did you mean kubeconform?"
    assert caught.value.status == 2


def test_machine_without_a_source_is_told() -> None:
    """A machine that no source serves gets the list of those that are served, and where to look."""
    with pytest.raises(ToolError, match=r"kubectl 1.37.1: no source for plan9-mips") as caught:
        TABLE.find("kubectl").source("plan9-mips")
    assert "linux-x86_64" in caught.value.advice
    assert "https://github.com/kubernetes/kubernetes" in caught.value.advice
