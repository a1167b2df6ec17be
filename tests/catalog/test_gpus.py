"""Cards: their names, the memory they show, their slices."""

from __future__ import annotations

from pathlib import Path

import pytest

from chartgen.catalog import gpus as catalog
from chartgen.catalog.folders import add_folder
from chartgen.catalog.gpus import Gpu, gpu, gpus
from chartgen.catalog.store import plain
from chartgen.kernel.errors import InputError, UnknownName
from chartgen.kernel.units import GIB

CARDS = gpus()


def test_there_are_enough_cards() -> None:
    """At least thirty cards are known, of two vendors."""
    assert len(CARDS) >= 30
    assert {card.vendor for card in CARDS} >= {"nvidia", "amd"}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.key)
def test_facts_are_sane(card: Gpu) -> None:
    """A card shows less than its label but most of it; speeds are positive; facts have a source and a day."""
    label = card.nominal_gb * GIB
    assert 0.88 * label < card.visible_bytes() <= label
    assert card.visible_bytes("low") <= card.visible_bytes() <= card.visible_bytes("high")
    assert card.bandwidth_gb_per_second > 200
    assert card.teraflops["float16"] > 50
    assert set(card.dtypes) >= {"float16", "float32"}
    assert card.source
    assert card.visible.source
    assert card.checked.count("-") == 2


@pytest.mark.parametrize("card", [card for card in CARDS if card.mig], ids=lambda card: card.key)
def test_slices_fit_their_card(card: Gpu) -> None:
    """Slices of one size never exceed the card, and a larger profile never shows less than a smaller one."""
    for name, profile in card.mig.items():
        assert profile.count * profile.mib <= card.visible.best * 1.005, name
        assert profile.mib <= float(name.split(".")[1].removesuffix("gb")) * 1024, name
        assert profile.compute_units == int(name.split("g.")[0])
    by_units = sorted(card.mig.values(), key=lambda profile: (profile.compute_units, profile.mib))
    assert by_units[-1].mib == max(profile.mib for profile in card.mig.values())


def test_the_same_profile_is_another_slice_on_another_card() -> None:
    """A profile's name does not identify it: 1g.10gb comes seven times on 80 GB and four times on 40 GB."""
    assert gpu("H100").mig["1g.10gb"].count == 7
    assert gpu("A100-40GB").mig["1g.10gb"].count == 4


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("H100", "h100-sxm-80gb"),
        ("H100 80GB", "h100-sxm-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm-80gb"),
        ("NVIDIA-H100-80GB-HBM3", "h100-sxm-80gb"),
        ("nvidia-h100-80gb", "h100-sxm-80gb"),
        ("NVIDIA-H100-NVL", "h100-nvl-94gb"),
        ("NVIDIA-A100-SXM4-80GB", "a100-sxm-80gb"),
        ("NVIDIA-A100-80GB-PCIe", "a100-pcie-80gb"),
        ("NVIDIA-A100-SXM4-40GB", "a100-sxm-40gb"),
        ("nvidia-tesla-a100", "a100-sxm-40gb"),
        ("Tesla-T4", "t4-16gb"),
        ("Tesla-V100-SXM2-32GB", "v100-sxm-32gb"),
        ("NVIDIA-B300-SXM6-AC", "b300-sxm-288gb"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "rtx-pro-6000-96gb"),
        ("NVIDIA-GeForce-RTX-4090", "rtx-4090-24gb"),
        ("NVIDIA-A10G", "a10g-24gb"),
        ("NVIDIA-L4", "l4-24gb"),
        ("MI300X", "mi300x-192gb"),
        ("AMD Instinct MI355X", "mi355x-288gb"),
    ],
)
def test_names_of_people_drivers_and_labels(name: str, key: str) -> None:
    """A card is known by what people say, drivers report and node labels carry."""
    assert gpu(name).key == key


def test_no_name_means_two_cards() -> None:
    """Every name belongs to one card."""
    owners: dict[str, str] = {}
    for card in CARDS:
        for name in (card.key, *card.aliases):
            assert owners.setdefault(plain(name), card.key) == card.key, name


def test_an_unknown_card_names_the_nearest() -> None:
    """A misspelt card is refused with the nearest that is known."""
    with pytest.raises(UnknownName) as caught:
        gpu("H1000")
    assert caught.value.kind == "GPU"
    assert caught.value.nearest is not None


@pytest.fixture
def clean() -> object:
    """Start from, and leave behind, our own facts only."""
    catalog._STORE.forget()
    yield
    catalog._STORE.forget()


CARD = """\
title: House card
vendor: nvidia
architecture: hopper
compute_capability: "9.0"
nominal_gb: 64
visible: {best: 64000, source: our own node}
bandwidth_gb_per_second: 2000
teraflops: {bfloat16: 400, float16: 400}
source: our own node
checked: "2026-11-30"
"""


@pytest.mark.usefixtures("clean")
def test_a_users_folder_adds_and_overrides(tmp_path: Path) -> None:
    """A user's fact file adds a card, or overrides ours and says so."""
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "house-card.yaml").write_text(CARD + "aliases: [House 64]\n")
    (tmp_path / "gpus" / "l4-24gb.yaml").write_text(CARD)
    said = add_folder(tmp_path)
    assert said == [f"{tmp_path} overrides the catalog's GPU l4-24gb"]
    assert gpu("house 64").visible.best == 64000
    assert gpu("house-card").origin == str(tmp_path / "gpus" / "house-card.yaml")
    assert gpu("l4-24gb").title == "House card"


@pytest.mark.usefixtures("clean")
def test_a_users_mistake_has_its_place(tmp_path: Path) -> None:
    """A wrong key in a user's fact file is refused with its line."""
    (tmp_path / "gpus").mkdir()
    file = tmp_path / "gpus" / "house-card.yaml"
    file.write_text(CARD.replace("vendor:", "vender:"))
    with pytest.raises(InputError) as caught:
        add_folder(tmp_path)
    problems = {(problem.position.line if problem.position else 0, problem.path) for problem in caught.value.problems}
    assert (2, "vender") in problems
