"""The dataclass of this house and that of the standard library cannot be told apart."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from chartgen.kernel.dataclass import dataclass

Decorator = Callable[..., Callable[[type], Any]]


def pair(decorator: Decorator) -> tuple[Any, Any]:
    """A class with a field of each sort, and one that adds to it."""

    @decorator(frozen=True, slots=True)
    class Base:
        """A base."""

        first: int
        second: tuple[int, ...] = ()
        hidden: int = field(default=0, compare=False, repr=False)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Child(Base):
        """A child."""

        lists: list[int] = field(default_factory=list, hash=False)
        needed: str

        def __post_init__(self) -> None:
            if not self.needed:
                raise ValueError("needed")

    return Base, Child


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A class that a pickle can name."""

    one: int
    two: str = "b"


OURS, THEIRS = pair(dataclass), pair(dataclasses.dataclass)
VALUES: list[tuple[int, dict[str, Any]]] = [
    (0, {"first": 1}),
    (0, {"first": 1, "second": (2,), "hidden": 5}),
    (1, {"first": 1, "needed": "a"}),
    (1, {"first": 1, "needed": "a", "hidden": 3}),
    (1, {"first": 1, "needed": "a", "lists": [1]}),
]


@pytest.mark.parametrize(("which", "values"), VALUES)
def test_values_read_alike(which: int, values: dict[str, Any]) -> None:
    """Text, fields, plain data, copies and changed copies are the same."""
    ours, theirs = OURS[which](**values), THEIRS[which](**values)
    assert repr(ours) == repr(theirs)
    assert asdict(ours) == asdict(theirs)
    assert repr(replace(ours, first=7)) == repr(replace(theirs, first=7))
    assert repr(copy.deepcopy(ours)) == repr(copy.deepcopy(theirs))


def test_values_compare_alike() -> None:
    """Every two of them are equal, and hash alike, where those of the standard library do."""
    ours, theirs = ([pair[which](**values) for which, values in VALUES] for pair in (OURS, THEIRS))
    assert [[a == b for b in ours] for a in ours] == [[a == b for b in theirs] for a in theirs]
    assert [[hash(a) == hash(b) for b in ours] for a in ours] == [[hash(a) == hash(b) for b in theirs] for a in theirs]


def parameters(kind: Any) -> list[tuple[Any, ...]]:
    found = inspect.signature(kind).parameters.values()
    return [(one.name, one.kind, one.default is one.empty, one.annotation) for one in found]


@pytest.mark.parametrize("which", [0, 1])
def test_classes_look_alike(which: int) -> None:
    """Fields, slots and match arguments are the same; and, once a value was made, parameters and annotations."""
    ours, theirs = OURS[which], THEIRS[which]
    ours(**VALUES[2][1] if which else VALUES[0][1])
    assert parameters(ours) == parameters(theirs)
    assert ours.__init__.__annotations__ == theirs.__init__.__annotations__
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert (ours.__slots__, ours.__match_args__) == (theirs.__slots__, theirs.__match_args__)
    assert "__dict__" not in dir(ours)


def test_nothing_can_be_changed() -> None:
    """Setting or deleting an attribute is refused, known or not."""
    kept = Kept(one=1)
    for name in ("one", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(kept, name, 2)
        with pytest.raises(FrozenInstanceError):
            delattr(kept, name)


def test_a_pickle_comes_back_equal() -> None:
    """Values go from process to process."""
    assert pickle.loads(pickle.dumps(Kept(one=1))) == Kept(one=1)  # noqa: S301 - our own bytes


def test_a_wrong_call_is_refused() -> None:
    """A missing, an unknown and a second value for a field are errors, and so is what `__post_init__` refuses."""
    base, child = OURS
    wrong: Callable[[], Any]
    for wrong in (base, lambda: base(1, other=2), lambda: base(1, first=2), lambda: child(1, (), 0, [], "a")):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="needed"):
        child(1, needed="")


def test_other_options_are_the_standard_library_s() -> None:
    """A class that is ordered, or may change, is made there."""

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        one: int

    @dataclass(slots=True)
    class Open:
        one: int

    assert Ordered(1) < Ordered(2)
    changed = Open(1)
    changed.one = 2
    assert changed == Open(2)
