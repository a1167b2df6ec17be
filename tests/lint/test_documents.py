"""Reading: every document is judged or told, a broken one spoils nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chartgen.kernel.errors import InputError, Position
from chartgen.lint.documents import read_manifests
from chartgen.lint.inputs import read_bytes, read_inputs
from chartgen.lint.manifest import Manifest, Unread

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"


def names(text: str) -> list[str]:
    """What became of each document: an object's name, or the fate and what was found."""
    found = []
    for one in read_manifests(text, "f.yaml", "g"):
        match one:
            case Manifest():
                found.append(one.name)
            case Unread():
                found.append(f"{one.fate}: {one.problem.found}")
    return found


def test_a_broken_document_among_good_ones() -> None:
    """The broken one is told with its line, those around it are judged with theirs."""
    text = f"{POD % 'a'}---\nkey: [1, 2\nother: }}\n---\n{POD % 'b'}"
    found = list(read_manifests(text, "f.yaml", "g"))
    first, broken, last = found
    assert isinstance(first, Manifest)
    assert isinstance(broken, Unread)
    assert isinstance(last, Manifest)
    assert (broken.fate, broken.problem.position and broken.problem.position.line) == ("failed", 6)
    assert last.place(("kind",)).position.line == 9
    assert last.document.text.content == text


def test_several_broken_documents() -> None:
    """Each broken document is told once."""
    text = "---\n".join([POD % "a", "a: [\n", POD % "b", "{{ x }}: 1\n", POD % "c"])
    fates = [name.partition(":")[0] for name in names(text)]
    assert fates == ["a", "failed", "b", "failed", "c"]


def test_a_flood_of_broken_documents_ends() -> None:
    """After a hundred broken documents the rest is left unread, and that is said."""
    assert names("---\na: [\n" * 150)[-1] == "failed: more than 100 broken documents"


def test_lists_are_unfolded() -> None:
    """Objects of a List are judged one by one, each at its place."""
    text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- 3\n"
    first, second = read_manifests(text, "f.yaml", "g")
    assert isinstance(first, Manifest)
    assert (first.name, first.place(("metadata",)).position.line) == ("a", 4)
    assert isinstance(second, Unread)


def test_lists_inside_lists_are_unfolded() -> None:
    """Objects of a List inside a List are judged, each at its place."""
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [%s, null]\n- null\n"
    (first, *rest) = read_manifests(text % "{apiVersion: v1, kind: Pod, metadata: {name: a}}", "f.yaml", "g")
    assert isinstance(first, Manifest)
    assert (first.name, first.place(("metadata",)).position.line) == ("a", 6)
    assert [isinstance(one, Unread) and one.fate for one in rest] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("items", "found"), [("7", ["failed: 7"]), ("{a: 1}", ["failed: a mapping"]), ("[]", []), ("null", [])]
)
def test_the_items_of_a_list(items: str, found: list[str]) -> None:
    """A List whose items are no list is told; one without any holds nothing."""
    assert names(f"apiVersion: v1\nkind: List\nitems: {items}\n") == found


def test_lists_end_somewhere() -> None:
    """Lists nested deeper than anybody writes are told, and not followed."""
    text = POD.replace("\n", ", ") % "a"
    value = "{" + text.removesuffix(", ") + "}"
    for _ in range(12):
        value = "{apiVersion: v1, kind: List, items: [" + value + "]}"
    assert names(value) == ["failed: a List inside 8 others"]


def test_json() -> None:
    """JSON is read, as one object or as an array of them."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert names(json.dumps(pod, indent="\t")) == ["a"]
    assert names(json.dumps([pod, pod])) == ["a", "a"]


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("replicaCount: 2\n", "skipped: no Kubernetes object"),
        ("kind: Pod\nmetadata: {name: a}\n", "failed: an object without apiVersion"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "failed: an object without kind"),
        ("just text\n", 'failed: "just text"'),
        ("name: {{ .Values.name }}\n", "skipped: a Helm template that is not rendered"),
        ('name: "{{ include "x.name" . }}"\n', "skipped: a Helm template that is not rendered"),
        ("name: {{ name }}\n", "failed: a template that is not rendered"),
    ],
)
def test_what_is_no_object_is_told(text: str, fate: str) -> None:
    """Nothing is left out in silence: what is skipped or failed says why."""
    assert names(text) == [fate]


def test_templates_of_other_kinds_are_data() -> None:
    """Alert templates and chat templates inside an object are not taken for Helm's."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: '{{ $labels.pod }} {{ range .Alerts }}'\n"
    assert names(text) == ["a"]


def test_empty_documents_are_nothing() -> None:
    """Empty documents and comments between markers are neither objects nor faults."""
    assert names("---\n---\n# nothing\n---\n") == []


def test_bytes_that_are_no_text() -> None:
    """A file in another encoding is told with the place of the first bad byte; a byte-order mark is fine."""
    (bad,) = read_bytes(b"a: \xff\n", "f.yaml", "g")
    assert isinstance(bad, Unread)
    assert bad.problem.position == Position(line=1, column=4)
    (good,) = read_bytes(b"\xef\xbb\xbf" + (POD % "a").encode(), "f.yaml", "g")
    assert isinstance(good, Manifest)


def test_folders_files_and_standard_input(tmp_path: Path) -> None:
    """Folders are walked, hidden ones are not; each folder is deployed together; `-` is standard input."""
    (tmp_path / "a").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a" / "one.yaml").write_text(POD % "one")
    (tmp_path / "a" / "two.yml").write_text(POD % "two")
    (tmp_path / "three.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "three"}}))
    (tmp_path / ".hidden" / "no.yaml").write_text(POD % "no")
    (tmp_path / "readme.txt").write_text("no")
    inputs = read_inputs([str(tmp_path), "-"], stdin=(POD % "piped").encode)
    assert [one.name for one in inputs.manifests] == ["one", "two", "three", "piped"]
    assert len({one.group for one in inputs.manifests}) == 3


def test_missing_paths_are_told_all_at_once() -> None:
    """Every named path that is not there is one problem."""
    with pytest.raises(InputError) as caught:
        read_inputs(["nope", "neither"])
    assert [problem.file for problem in caught.value.problems] == ["nope", "neither"]


def test_a_patch_of_a_kustomization(tmp_path: Path) -> None:
    """A file that a kustomization beside it only patches with is no object of its own."""
    (tmp_path / "kustomization.yaml").write_text("resources: [base.yaml]\npatches: [{path: patch.yaml}]\n")
    (tmp_path / "patch.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n"
    )
    (tmp_path / "base.yaml").write_text(POD % "b")
    read = read_inputs([str(tmp_path / "patch.yaml"), str(tmp_path / "base.yaml")])
    assert [one.name for one in read.manifests] == ["b"]
    assert [(one.fate, one.problem.found) for one in read.unread] == [
        ("skipped", "a patch of the kustomization beside it")
    ]
