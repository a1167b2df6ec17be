"""The planner against what experts publish: GPU counts by model, precision, card and length."""

from __future__ import annotations

from memory_recipes import domain, refusals, scores

HIT_SHARE = 0.70
NEAR_SHARE = 0.92


def test_gpu_counts_are_those_of_experts() -> None:
    """In 70 % of the cells the GPU count is a published one, in 92 % within a factor of two of one."""
    found = scores()
    assert len(found) > 200
    assert sum(one.hit for one in found) >= HIT_SHARE * len(found)
    assert sum(one.near for one in found) >= NEAR_SHARE * len(found)


def test_no_published_recipe_is_called_impossible_without_a_reason() -> None:
    """A recipe with a full layout is possible, or the domain says with the arithmetic why the model stands by it."""
    unexplained = {recipe.cells["id"]: because for recipe, because in refusals()}
    for stands_by in domain()["impossible"]:
        unexplained.pop(stands_by, None)
    assert unexplained == {}
