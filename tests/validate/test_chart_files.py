"""Charts as files: packed the same way every time, and read without trust."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from chartgen.kernel.errors import InputError
from chartgen.validate import chart_files
from chartgen.validate.helm import Binary
from validate.charts import FILES, parsed, write
from validate.samples import tool


def test_packing_is_deterministic() -> None:
    """The same files give the same bytes, whatever their order."""
    assert chart_files.pack(FILES) == chart_files.pack({path: FILES[path] for path in sorted(FILES, reverse=True)})


def test_what_is_packed_can_be_read(tmp_path: Path) -> None:
    """A packed chart is read back as it was."""
    archive = tmp_path / "demo.tgz"
    archive.write_bytes(chart_files.pack(FILES))
    assert chart_files.read(archive) == {path: content.encode() for path, content in FILES.items()}


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "templates/../../x", "a\\b", "a\0b", "."])
def test_a_path_outside_of_the_chart_is_not_packed(path: str) -> None:
    """A path that is no place inside a chart is a mistake of the caller."""
    with pytest.raises(ValueError, match="no place"):
        chart_files.pack({path: "x"})


def test_an_archive_that_helm_made_reads_like_its_folder(tmp_path: Path) -> None:
    """`helm package` and the folder it packed give the same files, but for what Helm rewrites itself."""
    folder = write(tmp_path / "demo")
    subprocess.run([tool("helm4"), "package", folder, "-d", tmp_path], check=True, capture_output=True)
    packed, plain = chart_files.read(tmp_path / "demo-0.1.0.tgz"), chart_files.read(folder)
    for files in (packed, plain):
        for name in ("Chart.yaml", "charts/cache/Chart.yaml"):  # Helm writes these anew
            assert files.pop(name)
    assert packed == plain


IGNORE = """\
# comment
*.bak
/secret.txt
drafts/
docs/*.md
!keep
"""
IGNORE_PLAIN = IGNORE.replace("!keep\n", "")


@pytest.mark.parametrize("rules", ["", IGNORE_PLAIN, "[a-c].txt\n", "?.txt\n", "files\n", "/files/note.txt\n"])
def test_helm_ignores_the_same_files(rules: str, tmp_path: Path) -> None:
    """The files that a template sees are those that Helm sees when it reads the folder itself."""
    names = ["x.bak", "secret.txt", "sub/secret.txt", "drafts/a.txt", "docs/a.md", "docs/a.txt", "a.txt", "d.txt"]
    listing = "apiVersion: v1\nkind: List\nseen:\n{{ range $path, $_ := .Files }}- {{ $path }}\n{{ end }}"
    files = {**FILES, **dict.fromkeys(names, "x"), ".helmignore": rules, "templates/list.yaml": listing}
    folder = write(tmp_path / "demo", files)
    (folder / "templates" / ".hidden.yaml").write_text("kind: Hidden\n")
    ours = Binary(tool("helm4")).template_path(folder, release="one", namespace="two")
    command = [str(tool("helm4")), "template", "one", str(folder), "--show-only", "templates/list.yaml"]
    theirs = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen = set(parsed({"list": theirs})["list"][0]["seen"])
    assert set(parsed(ours)["demo/templates/list.yaml"][0]["seen"]) == seen


def test_a_rule_with_an_exclamation_mark_is_helms_own_kind(tmp_path: Path) -> None:
    """`!keep` leaves out whatever is not called keep: Helm's reading, not Git's."""
    folder = write(tmp_path / "demo", {"Chart.yaml": "x", "keep": "x", ".helmignore": "!keep\n"})
    with pytest.raises(InputError) as refusal:
        chart_files.read(folder)
    assert refusal.value.problems[0].found == "no Chart.yaml"
    listing = subprocess.run([tool("helm4"), "show", "chart", folder], check=False, capture_output=True, text=True)
    assert "Chart.yaml file is missing" in listing.stderr


def _refused(path: Path) -> str:
    with pytest.raises(InputError) as refusal:
        chart_files.read(path)
    (problem,) = refusal.value.problems
    return problem.found


def test_a_folder_does_not_reach_outside(tmp_path: Path) -> None:
    """A link to a file outside of the chart is refused; one inside is followed."""
    folder = write(tmp_path / "demo")
    (folder / "inside.txt").symlink_to(folder / "values.yaml")
    assert chart_files.read(folder)["inside.txt"] == FILES["values.yaml"].encode()
    (folder / "outside.txt").symlink_to("/etc/hostname")
    assert _refused(folder) == "a link that leaves the chart"


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    """A link to a folder, a loop for instance, is not walked."""
    folder = write(tmp_path / "demo")
    (folder / "loop").symlink_to(folder)
    assert set(chart_files.read(folder)) == set(FILES)


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """A pipe in a chart folder does not hang the reader."""
    folder = write(tmp_path / "demo")
    os.mkfifo(folder / "pipe")
    assert set(chart_files.read(folder)) == set(FILES)


def _archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    path.write_bytes(gzip.compress(raw.getvalue()))
    return path


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


@pytest.mark.parametrize(
    "member",
    [
        _member("demo/../../x"),
        _member("/etc/x"),
        _member("demo/x", tarfile.SYMTYPE, "/etc/passwd"),
        _member("demo/x", tarfile.LNKTYPE, "demo/Chart.yaml"),
        _member("demo/x", tarfile.CHRTYPE),
        _member("Chart.yaml"),
    ],
    ids=lambda member: f"{member.type!r} {member.name}",
)
def test_an_archive_does_not_reach_outside(member: tarfile.TarInfo, tmp_path: Path) -> None:
    """Paths that leave the chart, links and devices are refused unread."""
    chart = (_member("demo/Chart.yaml"), b"name: demo")
    found = _refused(_archive(tmp_path / "demo.tgz", chart, (member, b"")))
    assert "a link or a path that leaves the chart" in found


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large a file, too much in sum, too many files: each is refused before it fills the memory."""
    chart = (_member("demo/Chart.yaml"), b"name: demo")
    large = (_member("demo/x"), b"\0" * (chart_files.MAX_FILE_BYTES + 1))
    assert f"{chart_files.MAX_FILE_BYTES + 1} bytes" in _refused(_archive(tmp_path / "large.tgz", chart, large))
    folder = write(tmp_path / "large", {"Chart.yaml": "x", "x": large[1]})
    assert f"{chart_files.MAX_FILE_BYTES + 1} bytes" in _refused(folder)
    monkeypatch.setattr(chart_files, "MAX_BYTES", 100)
    many = [(_member(f"demo/{number}"), b"\0" * 60) for number in range(2)]
    assert _refused(_archive(tmp_path / "sum.tgz", chart, *many)) == "more than 100 bytes unpacked"
    monkeypatch.setattr(chart_files, "MAX_FILES", 2)
    few = [(_member(f"demo/{number}"), b"") for number in range(3)]
    assert _refused(_archive(tmp_path / "many.tgz", chart, *few)) == "more than 2 files"
    monkeypatch.setattr(chart_files, "MAX_ARCHIVE_BYTES", 10)
    archive = _archive(tmp_path / "archive.tgz", chart)
    assert _refused(archive) == f"{archive.stat().st_size} bytes"


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", gzip.compress(b"no tar"), gzip.compress(b"\0" * 2000)[:-9]],
    ids=["empty", "text", "compressed text", "cut short"],
)
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    """A file that is no chart archive is an input error, not a crash."""
    path = tmp_path / "demo.tgz"
    path.write_bytes(content)
    assert _refused(path)


def test_a_chart_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A path to nothing is an input error."""
    assert _refused(tmp_path / "nothing.tgz")
