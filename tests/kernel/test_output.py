"""Files that the user asks for are written whole or not at all."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from chartgen.kernel.errors import InputError
from chartgen.kernel.output import check_places, make_folders, write_files


@pytest.fixture
def disk_full() -> Iterator[None]:
    """No file may grow beyond one byte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [problem.file for problem in error.value.problems]


def test_a_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """The new content stands in the file behind a link, with the mode of before and nothing beside it."""
    file, link = tmp_path / "a", tmp_path / "b"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to("a")
    write_files({link: b"new"})
    assert (file.read_bytes(), file.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o640, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    """What others may read is decided by the umask, as for every program."""
    write_files({tmp_path / "a": b""})
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_full_disk_leaves_the_old_content(tmp_path: Path, disk_full: None) -> None:
    """A write that fails changes no file, not even those that could be written, and leaves nothing behind."""
    del disk_full
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"1")
    large.write_bytes(b"1")
    with pytest.raises(InputError) as error:
        write_files({small: b"2", large: b"22222"})
    assert names(error) == [str(large)]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"small": b"1", "large": b"1"}


def test_a_stream_is_written_to_as_it_is(tmp_path: Path) -> None:
    """A pipe stays a pipe, and a full device is named."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_files({pipe: b"through"})
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"through", True)
    os.close(reader)
    with pytest.raises(InputError) as error:
        write_files({Path("/dev/full"): b"x"})
    assert names(error) == ["/dev/full"]


def test_places_are_checked_before_anything_is_made(tmp_path: Path) -> None:
    """A folder, a folder that is not there and one that takes no files are named together; a device is fine."""
    missing = tmp_path / "nosuch" / "x"
    with pytest.raises(InputError) as error:
        check_places([tmp_path, missing, Path("/proc/x"), tmp_path / "fine", Path("/dev/null")])
    assert names(error) == [str(tmp_path), str(missing), "/proc/x"]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file in the way of a folder is an input problem."""
    (tmp_path / "a").write_bytes(b"")
    make_folders([tmp_path / "b" / "c"])
    with pytest.raises(InputError) as error:
        make_folders([tmp_path / "a" / "b"])
    assert names(error) == [str(tmp_path / "a" / "b")]
