"""`chartgen render --with-node-pool`: what the platform team needs, beside the chart and out of Helm's sight."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from chartgen.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
KARPENTER = """\
model: meta-llama/Llama-3.1-8B-Instruct
gpu: H100
context: 8k
region: eu-west-1
cluster:
  cloud: eks-karpenter
"""


def render(*arguments: str | Path) -> Result:
    """Run `chartgen render` in this process."""
    return CliRunner().invoke(main, ["render", *map(str, arguments)])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where charts go."""
    return tmp_path / "out"


def test_the_node_pool_stands_beside_the_chart(tmp_path: Path, out: Path) -> None:
    """A Karpenter NodePool with its reason, and a README that says how to apply it."""
    (tmp_path / "chat.yaml").write_text(KARPENTER, encoding="utf-8")
    assert render(tmp_path / "chat.yaml", "--out", out, "--with-node-pool").exit_code == 0
    text = (out / "chat" / "nodes" / "nodepool.yaml").read_text("utf-8")
    assert yaml.safe_load(text)["kind"] == "NodePool"
    assert text.startswith("# -- Nodes for ")
    assert "kubectl apply -f nodepool.yaml" in (out / "chat" / "nodes" / "README.md").read_text("utf-8")


def test_a_queue_gets_its_quota(out: Path) -> None:
    """The ready profile with a queue asks for a quota: three objects of Kueue, and the pool's command."""
    assert render(ROOT / "profiles" / "kueue-32b.yaml", "--out", out, "--with-node-pool").exit_code == 0
    folder = out / "kueue-32b" / "nodes"
    assert {path.name for path in folder.glob("*.yaml")} == {
        "clusterqueue.yaml",
        "localqueue.yaml",
        "resourceflavor.yaml",
    }
    queue = yaml.safe_load((folder / "localqueue.yaml").read_text("utf-8"))
    assert queue["metadata"] == {"name": "labelling", "namespace": "labelling"}
    assert "--spot" in (folder / "README.md").read_text("utf-8")


def test_without_the_option_there_is_no_node_side(out: Path) -> None:
    """The chart's folder holds exactly what was asked for last."""
    profile = ROOT / "profiles" / "kueue-32b.yaml"
    render(profile, "--out", out, "--with-node-pool")
    assert render(profile, "--out", out).exit_code == 0
    assert not (out / "kueue-32b" / "nodes").exists()


def test_it_is_not_for_the_stream_of_manifests(out: Path) -> None:
    """Nodes in the same stream would be applied with the chart."""
    result = render(ROOT / "profiles" / "kueue-32b.yaml", "--out", out, "--with-node-pool", "--stdout", "manifests")
    assert result.exit_code == 2
    assert "leave out --with-node-pool" in result.stderr


def test_helm_does_not_see_it(helm: str, tmp_path: Path, out: Path) -> None:
    """With the folder there, Helm renders the same manifests and packs none of it."""
    chart = out / "kueue-32b"
    profile = ROOT / "profiles" / "kueue-32b.yaml"
    command = [helm, "template", "x", str(chart), "--kube-version", "1.35.0"]
    render(profile, "--out", out)
    before = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    render(profile, "--out", out, "--with-node-pool")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == before
    subprocess.run([helm, "package", chart, "--destination", tmp_path], capture_output=True, check=True)
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as archive:
        assert not [name for name in archive.getnames() if "nodes" in name]
