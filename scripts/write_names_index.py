"""Write `catalog/data/names.json`, the index of all names; with --check, fail when it is stale.

Run it after adding or renaming an entry. A lookup reads this index and one fact file, never all of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from chartgen.catalog import gpus, models
from chartgen.catalog.model_config_types import model_types
from chartgen.catalog.store import INDEX, names_of, plain
from chartgen.kernel.library import catalog_data


def names(entries: Iterable[Any]) -> dict[str, str]:
    """Every plain name of the entries with its key; refuses a name that two entries claim."""
    found: dict[str, str] = {}
    for entry in entries:
        spoken = names_of(entry.key, entry)
        spoken += [name.rsplit("/", 1)[-1] for name in spoken if "/" in name]
        for name in map(plain, spoken):
            if found.setdefault(name, entry.key) != entry.key:
                sys.exit(f"{name} names both {found[name]} and {entry.key}")
    return dict(sorted(found.items()))


def main() -> None:
    """Write the index, or compare it."""
    index = {
        "gpus": names(gpus.gpus()),
        "model_types": names(model_types()),
        "models": names(models.models()),
    }
    text = json.dumps(index, indent=0) + "\n"
    path = catalog_data() / INDEX
    if sys.argv[1:] == ["--check"]:
        if path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path} is stale: run scripts/write_names_index.py")
    else:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
