"""Clouds: what every entry must hold, and numbers that a reader can check against the provider's own pages."""

from __future__ import annotations

import pytest

from chartgen.catalog.clouds import Cloud, cloud_names, load_cloud
from chartgen.catalog.gateways import gateway_names
from chartgen.catalog.gpus import gpus
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.labels import is_key, is_label_value


@pytest.fixture(params=cloud_names())
def cloud(request: pytest.FixtureRequest) -> Cloud:
    return load_cloud(request.param)


def test_labels_are_valid(cloud: Cloud) -> None:
    """Every label key and value of the tables is one that Kubernetes accepts."""
    terms = [term for terms in cloud.card_labels.values() for term in terms]
    terms += [cloud.spot.want] if cloud.spot else []
    for term in terms:
        assert is_key(term.key), term
        assert all(map(is_label_value, term.values)), term
    assert all(map(is_label_value, cloud.shapes))


def test_every_card_can_be_picked(cloud: Cloud) -> None:
    """A card that a cloud sells has labels of its own there, or its instance types can be named."""
    for card in cloud.cards():
        assert cloud.card_labels.get(card) or cloud.shape_label


def test_own_hardware_may_have_any_card() -> None:
    """The labels of every card of the catalog are known where nobody sells instance types."""
    assert set(load_cloud("on-prem").cards()) == {card.key for card in gpus()}


def test_facts_have_sources_and_a_front_door(cloud: Cloud) -> None:
    """Each cloud names its sources, and a gateway that the catalog knows."""
    assert all(cloud.source)
    assert cloud.gateway in gateway_names()


def test_shapes_are_sane(cloud: Cloud) -> None:
    """No instance type claims an NVLink island larger than itself, or less than 2 CPUs and 8 GiB for a GPU."""
    for name, shape in cloud.shapes.items():
        assert 1 <= shape.island <= shape.gpus, name
        assert shape.cpus >= 2 * shape.gpus, name
        assert shape.memory_mib >= 8 * 1024 * shape.gpus, name


@pytest.mark.parametrize(
    ("cloud", "card", "gpus", "names"),
    [
        ("eks", "h100-sxm-80gb", 1, ["p5.4xlarge", "p5.48xlarge"]),
        ("eks", "h100-sxm-80gb", 2, ["p5.48xlarge"]),
        ("eks", "a100-sxm-80gb", 1, ["p4de.24xlarge"]),
        ("eks", "rtx-pro-6000-96gb", 4, ["g7e.24xlarge", "g7e.48xlarge"]),
        ("gke", "l4-24gb", 2, ["g2-standard-24", "g2-standard-48", "g2-standard-96"]),
        ("gke", "a100-sxm-80gb", 8, ["a2-ultragpu-8g"]),
        ("aks", "h100-nvl-94gb", 2, ["Standard_NC80adis_H100_v5"]),
        ("aks", "mi300x-192gb", 1, ["Standard_ND96isr_MI300X_v5"]),
        ("oke", "h200-sxm-141gb", 8, ["BM.GPU.H200.8"]),
        ("coreweave", "h100-sxm-80gb", 4, ["gd-8xh100ib-i128"]),
    ],
)
def test_instance_types_that_hold_a_replica(cloud: str, card: str, gpus: int, names: list[str]) -> None:
    """The instance types that hold so many GPUs of a card are these, smallest first."""
    assert list(load_cloud(cloud).holding(card, gpus)) == names


def test_what_is_left_unsaid_comes_from_the_other_file() -> None:
    """Karpenter on EKS has the instance types of EKS and labels of its own."""
    eks, karpenter = load_cloud("eks"), load_cloud("eks-karpenter")
    assert karpenter.shapes == eks.shapes
    assert karpenter.shape_label is None
    assert karpenter.card_labels["a100-sxm-80gb"][1].values == ("81920",)


def test_cards_that_share_a_name_are_told_apart(cloud: Cloud) -> None:
    """No two cards of one cloud are picked by the same labels."""
    seen = {repr(terms): card for card, terms in cloud.card_labels.items()}
    assert len(seen) == len(cloud.card_labels)


def test_unknown_cloud_names_the_nearest() -> None:
    """A misspelt cloud is refused with the nearest name."""
    with pytest.raises(UnknownName) as caught:
        load_cloud("eks-karpentr")
    assert caught.value.nearest == "eks-karpenter"
