"""The planner against published recipes: python benchmarks/bench_recipes.py [--misses]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from memory_recipes import domain, refusals, scores


def main() -> None:
    """Print the share of cells whose GPU count is published, and the recipes that are called impossible."""
    found = scores()
    hits, near = sum(one.hit for one in found), sum(one.near for one in found)
    count = len(found)
    print(f"{count} cells: in the published set {hits / count:.1%}, within a factor of two {near / count:.1%}")
    if "--misses" in sys.argv[1:]:
        for one in found:
            if not one.hit:
                published = ", ".join(map(str, sorted(one.published)))
                print(f"  {' · '.join(one.cell)} · {one.length} tokens: chosen {one.chosen}, published {published}")
    stands_by = domain()["impossible"]
    print("\ncalled impossible:")
    for recipe, because in refusals():
        said = stands_by.get(recipe.cells["id"], "NOT EXPLAINED")
        print(f"  {recipe.cells['id']} {recipe.cells['model_hf_id']} on {recipe.card.key}: {because}\n    {said}")


if __name__ == "__main__":
    main()
