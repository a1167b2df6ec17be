"""A KAITO preset and the ConfigMap of engine options that it names: faults are shown where they are written."""

from __future__ import annotations

import pytest

from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Finding, Outcome
from chartgen.lint.manifest import Inputs, Manifest
from chartgen.lint.run import Request, lint
from chartgen.lint.select import Selection
from chartgen.policy.load import load

WORKSPACE = """\
apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata:
  name: llm
  annotations: {%s}
resource:
  instanceType: Standard_NC24ads_A100_v4
  labelSelector: {matchLabels: {apps: llm}}
inference:
  preset: {name: deepseek-r1-distill-qwen-14b}
  config: options
"""
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: options}
data:
  inference_config.yaml: |
    max_probe_steps: 6

    vllm:
      # the context
      max-model-len: 500000
      max-modle-len: 4096%s
"""
ASKED = ("context-above-model", "more-ranks-than-gpus", "repeated-flag", "stray-argument", "unknown-engine-flag")


def judge(**files: str) -> Outcome:
    manifests = tuple(
        found
        for name, text in files.items()
        for found in read_manifests(text, f"{name}.yaml", "together")
        if isinstance(found, Manifest)
    )
    return lint(Request(inputs=Inputs(manifests=manifests), policies=load(), selection=Selection(select=ASKED)))


def places(outcome: Outcome) -> list[tuple[str, str, int]]:
    return [_place(found) for found in outcome.findings]


def _place(found: Finding) -> tuple[str, str, int]:
    return found.policy.id, found.place.file, found.place.position.line


def test_faults_are_shown_in_the_config_map() -> None:
    """An unknown option has its own line in the other file; a judgement of all options has the text's first."""
    outcome = judge(workspace=WORKSPACE % "", config=CONFIG % "")
    assert places(outcome) == [("context-above-model", "config.yaml", 5), ("unknown-engine-flag", "config.yaml", 11)]
    line = outcome.texts["config.yaml"].content.splitlines()[10]
    place = outcome.findings[1].place
    assert place.end is not None
    assert line[place.position.column - 1 : place.end.column - 1] == "max-modle-len: 4096"
    assert outcome.findings[1].manifest.name == "llm"
    assert outcome.findings[1].message == (
        "vLLM 0.25.1 has no --max-modle-len (KAITO chooses the image: read as kaito-base 0.5.0); "
        "nearest: --max-model-len"
    )


def test_without_the_config_map_nothing_is_said() -> None:
    """What a ConfigMap says that is not among the inputs, or is another namespace's, is an open question."""
    other = (CONFIG % "").replace("{name: options}", "{name: options, namespace: elsewhere}")
    here = (WORKSPACE % "").replace("  name: llm\n", "  name: llm\n  namespace: here\n")
    for outcome in (judge(workspace=WORKSPACE % ""), judge(workspace=here, config=other)):
        assert places(outcome) == []
        assert {untold.because for untold in outcome.untold} == {
            "--config /mnt/config/inference_config.yaml may hold more arguments"
        }


def test_text_in_quotes_is_shown_as_a_whole() -> None:
    """A text that is not written line by line is shown by its key."""
    config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: options}\ndata:\n  %s: "vllm:\\n  %s: 4\\n"\n'
    outcome = judge(workspace=WORKSPACE % "", config=config % ("inference_config.yaml", "max-modle-len"))
    assert places(outcome) == [("unknown-engine-flag", "config.yaml", 5)]


@pytest.mark.parametrize(
    ("annotation", "comment"),
    [("allow.chartgen/unknown-engine-flag: a build of ours", ""), ("", "  # allow.chartgen/unknown-engine-flag: ours")],
    ids=["annotation", "comment"],
)
def test_a_fault_is_allowed_from_both_sides(annotation: str, comment: str) -> None:
    """The Workspace's annotation covers what its ConfigMap says, and so does a comment beside the option."""
    outcome = judge(workspace=WORKSPACE % annotation, config=CONFIG % comment)
    assert places(outcome) == [("context-above-model", "config.yaml", 5)]
    assert len(outcome.allowed) == 1


def test_words_that_belong_to_no_option() -> None:
    """KAITO's parser has room for one word too many: a second `true`, or a `false`, is refused or does not count."""
    outcome = judge(
        workspace=WORKSPACE % "",
        config=(CONFIG % "\n      enable-prefix-caching: true\n      enable-chunked-prefill: true").replace(
            "500000", "8192"
        ),
    )
    assert places(outcome) == [("unknown-engine-flag", "config.yaml", 11), ("stray-argument", "config.yaml", 13)]


def test_the_users_options_count() -> None:
    """An option that the user gives takes the place of KAITO's own: nothing is given twice."""
    config = (CONFIG % "").replace("500000", "8192").replace("max-modle-len", "max_num_seqs")
    assert places(judge(workspace=WORKSPACE % "", config=config)) == []
