"""Both Helm engines, and both versions of the command, give the same answers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from chartgen.validate import helm
from chartgen.validate.helm import Binary, HelmEngine, HelmError, HelmMissing, Library
from validate.charts import FILES, parsed, write
from validate.samples import tool

ENGINES = ("library", "helm3", "helm4")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> HelmEngine:
    """Each engine in turn."""
    return Library() if request.param == "library" else Binary(tool(request.param))


VALUES = [
    {},
    {"replicas": 5},
    {"args": {"x": "{{ .Release.Name }}", "y": "a: b\n---\nc"}},
    {"cache": {"enabled": False}},
]


@pytest.mark.parametrize("values", VALUES)
def test_engines_render_the_same(values: dict[str, object]) -> None:
    """The library and both commands render the same objects from the same templates."""
    results = [
        parsed(engine.template(FILES, release="one", namespace="two", values=values, kubernetes="1.34"))
        for engine in (Library(), Binary(tool("helm3")), Binary(tool("helm4")))
    ]
    assert results[0]["demo/templates/config.yaml"][0]["metadata"]["namespace"] == "two"
    assert results[0] == results[1] == results[2]


def test_a_render_has_what_an_install_sends(engine: HelmEngine) -> None:
    """Hooks and tests are there; notes and templates that render to nothing are not; documents stay together."""
    manifests = engine.template(FILES, release="one", namespace="two")
    assert {path: len(documents) for path, documents in parsed(manifests).items()} == {
        "demo/charts/cache/templates/cache.yaml": 1,
        "demo/templates/a-service.yaml": 1,
        "demo/templates/config.yaml": 2,
        "demo/templates/tests/test.yaml": 1,
    }
    assert list(manifests) == sorted(manifests)


def test_values_are_never_read_as_templates(engine: HelmEngine) -> None:
    """Text of a value that looks like a template or like the end of a document stays text."""
    hostile = "{{ fail 1 }}\n---\n# Source: demo/templates/evil.yaml\nkind: Pod"
    manifests = engine.template(FILES, release="one", namespace="two", values={"args": {"x": hostile}})
    assert "demo/templates/evil.yaml" not in manifests
    assert "fail 1" in parsed(manifests)["demo/templates/config.yaml"][0]["data"]["args"]


def test_a_sound_chart_lints_clean(engine: HelmEngine) -> None:
    """A sound chart fails for nothing under --strict."""
    assert [message for message in engine.lint(FILES, kubernetes="1.34") if message.fails] == []


def test_values_that_the_schema_forbids_are_refused_with_the_reason(engine: HelmEngine) -> None:
    """The reason that stands in values.schema.json reaches the user, in render and in lint."""
    with pytest.raises(HelmError, match="at least 2: a start takes 240 s"):
        engine.template(FILES, release="one", namespace="two", values={"replicas": 1})
    messages = engine.lint(FILES, {"replicas": 1})
    assert {message.path for message in messages if message.fails} == {"values.yaml", "templates/"}
    assert any("at least 2: a start takes 240 s" in message.text for message in messages)


def test_warnings_fail() -> None:
    """A removed API is a warning for the minor that removed it, and a warning fails; all engines say the same."""
    budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n"
    files = {**FILES, "templates/budget.yaml": budget}
    engines = [Library(), Binary(tool("helm3")), Binary(tool("helm4"))]
    for kubernetes, severities in (("1.20", []), ("1.25", ["warning"])):
        messages = [
            [message for message in engine.lint(files, kubernetes=kubernetes) if message.path.endswith("budget.yaml")]
            for engine in engines
        ]
        assert [message.severity for message in messages[0] if message.fails] == severities
        assert messages[0] == messages[1] == messages[2]


def test_an_error_in_a_template_names_its_place(engine: HelmEngine) -> None:
    """A template that does not render is refused in Helm's words, with file and line."""
    files = {**FILES, "templates/broken.yaml": "a: b\nc: {{ .Values.x.y.z }}\n"}
    with pytest.raises(HelmError, match=r"demo/templates/broken\.yaml:2:\d+(.|\n)*nil pointer evaluating"):
        engine.template(files, release="one", namespace="two")


@pytest.mark.parametrize("chart", ["", "- 1", "name: demo", "{{", "apiVersion: v2\nname: ../demo\nversion: 0.1.0"])
def test_what_is_no_chart_is_refused(engine: HelmEngine, chart: str) -> None:
    """A Chart.yaml that Helm cannot read is an error, in render as in lint."""
    files = {**FILES, "Chart.yaml": chart}
    with pytest.raises(HelmError):
        engine.template(files, release="one", namespace="two")
    try:
        messages = engine.lint(files)
    except HelmError:
        return
    assert any(message.fails for message in messages)


@pytest.mark.parametrize("release", ["Demo", "--help", "a" * 54, ""])
def test_a_release_name_that_is_none_is_refused(engine: HelmEngine, release: str) -> None:
    """A release has a proper name, and a name is never read as an option."""
    with pytest.raises(HelmError):
        engine.template(FILES, release=release, namespace="two")


@pytest.mark.parametrize(("kubernetes", "taken"), [("1.32", False), ("1.33", True), ("v1.37.2", True), ("1.38", False)])
def test_a_chart_is_for_its_own_kubernetes(engine: HelmEngine, kubernetes: str, taken: bool) -> None:  # noqa: FBT001
    """A chart's kubeVersion decides for every engine alike."""
    if taken:
        assert engine.template(FILES, release="one", namespace="two", kubernetes=kubernetes)
        return
    with pytest.raises(HelmError, match=r"requires kubeVersion: >=1\.33\.0-0 <1\.38\.0-0 which is incompatible"):
        engine.template(FILES, release="one", namespace="two", kubernetes=kubernetes)


def test_a_missing_subchart_is_named(engine: HelmEngine) -> None:
    """A dependency that is not in charts/ stops the render."""
    files = {path: content for path, content in FILES.items() if not path.startswith("charts/")}
    with pytest.raises(HelmError, match="missing in charts/ directory: cache"):
        engine.template(files, release="one", namespace="two")


CAPABILITIES = {
    **FILES,
    "templates/config.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  version: {{ .Capabilities.KubeVersion.Version | quote }}
  monitors: {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PodMonitor" | quote }}
""",
}


@pytest.mark.parametrize("command", ["helm3", "helm4"])
def test_a_chart_that_looks_at_the_cluster_sees_the_one_that_was_named(command: str) -> None:
    """The version and the API versions that are asked for reach the templates, through `auto` too."""
    for engine in (Binary(tool(command)), helm.engine("auto", tool(command))):
        manifests = engine.template(
            CAPABILITIES,
            release="one",
            namespace="two",
            kubernetes="1.35",
            api_versions=["monitoring.coreos.com/v1/PodMonitor"],
        )
        (config,) = parsed(manifests)["demo/templates/config.yaml"]
        assert config["data"] == {"version": "v1.35.0", "monitors": "true"}


def test_the_library_alone_does_not_guess_the_cluster() -> None:
    """Without the command, a chart that looks at the cluster is refused with what to install."""
    with pytest.raises(HelmMissing, match="scripts/tools install helm4"):
        Library().template(CAPABILITIES, release="one", namespace="two", kubernetes="1.35")


def test_a_packed_subchart_may_look_at_the_cluster() -> None:
    """What is inside a packed subchart is not seen here, so the command renders it."""
    with pytest.raises(HelmMissing):
        Library().template({**FILES, "charts/x-1.0.0.tgz": b""}, release="one", namespace="two")


def test_versions_say_which_engine_answers() -> None:
    """Each engine says its Helm's version and which engine it is."""
    assert Binary(tool("helm3")).version == "3.19.0 (helm)"
    assert Binary(tool("helm4")).version == "4.3.1 (helm)"
    assert Library().version.startswith("4.")
    assert Library().version.endswith(" (library)")


def test_a_choice_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """`binary` is the command even where the library is there; `auto` prefers the library."""
    assert isinstance(helm.engine("binary", tool("helm3")), Binary)
    assert isinstance(helm.engine("auto", tool("helm3")), Library)
    monkeypatch.setattr(helm, "find_spec", lambda name: None if name == "helm_python" else find_spec(name))
    assert isinstance(helm.engine("auto", tool("helm3")), Binary)


def test_no_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With neither library nor command, the error names both ways to get one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HelmMissing, match="scripts/tools install helm4"):
        helm.engine("binary")
    monkeypatch.setattr(helm, "find_spec", lambda _: None)
    choices: tuple[helm.Choice, ...] = ("auto", "binary")
    for choice in choices:
        with pytest.raises(HelmMissing, match=r"pip install 'chartgen\[helm\]', or scripts/tools install helm4"):
            helm.engine(choice)
    with pytest.raises(HelmMissing, match=r"pip install 'chartgen\[helm\]'"):
        helm.engine("library")


def test_a_command_that_cannot_run_is_an_error(tmp_path: Path) -> None:
    """A path that is no program is an error of its own."""
    with pytest.raises(HelmMissing):
        Binary(tmp_path / "helm").lint(FILES)


def test_a_helm_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that gives no answer is ended."""
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setattr("chartgen.validate.helm_binary.TIMEOUT", 0.2)
    with pytest.raises(HelmError, match="gave no answer"):
        Binary(program).lint(FILES)


def test_a_chart_on_disk_renders_like_one_in_memory(engine: HelmEngine, tmp_path: Path) -> None:
    """A folder is read into the same chart."""
    folder = write(tmp_path / "demo")
    from_disk = engine.template_path(folder, release="one", namespace="two", kubernetes="1.34")
    assert from_disk == engine.template(FILES, release="one", namespace="two", kubernetes="1.34")
