"""`dataclass` as the standard library has it, made in a quarter of the time.

Nearly two hundred classes are made before a small file is judged. For a frozen one the standard decorator compiles six
functions from text, and that was a third of a short run. Here only `__init__` is, when the first value is made; the
other methods are the same for all classes, or get the fields from a closure. `fields`, `replace` and `asdict` see no
difference.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NoReturn

__all__ = ["dataclass"]

_KNOWN: Final = {"frozen", "slots", "kw_only", "eq"}
"""The options that are known here; a class with others, or one that is not frozen, is the standard library's."""


def _decorator(**options: bool) -> Callable[[type], type]:
    if not (options.get("frozen") and options.get("slots") and options.keys() <= _KNOWN):
        return dataclasses.dataclass(**options)
    kw_only, eq = options.get("kw_only", False), options.get("eq", True)

    def made(cls: type) -> type:
        slotted: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
        own = vars(cls)
        for name, method in (_SHARED | _comparison(fields(slotted)) if eq else _SHARED).items():
            if name not in own:
                setattr(slotted, name, method)

        def first(self: object, *args: Any, **options: Any) -> None:
            slotted.__init__ = _initializer(slotted)
            slotted.__init__(self, *args, **options)

        slotted.__init__ = first
        return slotted  # type: ignore[no-any-return]

    return made


def _initializer(cls: Any) -> Any:
    """`__init__` of a class: it fills the slots, since nothing may assign to an attribute."""
    scope: dict[str, Any] = {"_unset": MISSING}
    by_place = ["self"]
    by_name: list[str] = []
    lines: list[str] = []
    for field in fields(cls):
        if not field.init:
            raise TypeError(f"{cls.__qualname__}.{field.name}: a field without a parameter is not known here")
        name = given = parameter = field.name
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        if field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not MISSING:
            scope[f"_default_{name}"] = field.default_factory
            parameter, given = f"{name}=_unset", f"_default_{name}() if {name} is _unset else {name}"
        (by_name if field.kw_only else by_place).append(parameter)
        lines.append(f"_set_{name}(self, {given})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*by_place, "*", *by_name] if by_name else by_place)
    body = "\n  ".join(lines or ["pass"])
    text = f"def make({', '.join(scope)}):\n def __init__({parameters}):\n  {body}\n return __init__"
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), made)  # noqa: S102 - the names of our own fields
    init = made["make"](**scope)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in fields(cls)} | {"return": None}
    return init


def _comparison(of: Sequence[Field[Any]]) -> dict[str, Callable[..., Any]]:
    compared = _values(field.name for field in of if field.compare)
    hashed = _values(field.name for field in of if (field.compare if field.hash is None else field.hash))

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(hashed(self))}


def _values(names: Iterable[str]) -> Callable[[object], Any]:
    found = tuple(names)
    return attrgetter(*found) if found else lambda _: ()


def _set(self: object, name: str, value: object) -> NoReturn:
    del self, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _shown(self: Any) -> str:
    values = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_SHARED: Final[dict[str, Callable[..., Any]]] = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__repr__": _shown,
    "__getstate__": _state,
    "__setstate__": _restore,
}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _decorator
