"""How long requests are, and how fast they must feel."""

from __future__ import annotations

from chartgen.catalog.assumptions import assumption, sentence
from chartgen.kernel import units
from chartgen.kernel.decision import Decision, asked, assumed, worked_out
from chartgen.kernel.units import Seconds, Tokens
from chartgen.profile import Context
from chartgen.resolve.resolver import Resolver
from chartgen.resolve.types import Lengths


def resolve_lengths(resolver: Resolver) -> Lengths | None:
    """The longest and the typical request in tokens; None when a count cannot be read."""
    profile = resolver.loaded.profile
    counts = {
        "traffic.prompt_tokens": profile.traffic.prompt_tokens,
        "traffic.answer_tokens": profile.traffic.answer_tokens,
    }
    if isinstance(profile.context, Context):
        counts |= {"context.prompt": profile.context.prompt, "context.answer": profile.context.answer}
    else:
        counts["context"] = profile.context
    read = {path: _tokens(resolver, path, text) for path, text in counts.items() if text is not None}
    if any(count is None for count in read.values()):
        return None
    known = {path: count for path, count in read.items() if count is not None}
    if isinstance(profile.context, Context):
        prompt, answer = known["context.prompt"], known["context.answer"]
        context = worked_out(Tokens(prompt + answer), f"The longest prompt of {prompt} and answer of {answer} tokens")
        longest = asked(answer, f"The profile's longest answer is {answer} tokens")
    else:
        context = asked(known["context"], f"The profile's longest request is {known['context']} tokens")
        longest = _share(context.value, "answer-share")
    lengths = Lengths(
        context=context,
        answer=longest,
        typical_prompt=_typical(known.get("traffic.prompt_tokens"), context.value, "prompt"),
        typical_answer=_typical(known.get("traffic.answer_tokens"), context.value, "answer"),
    )
    typical = lengths.typical_prompt.value + lengths.typical_answer.value
    if typical > context.value:
        path = ["traffic", "prompt_tokens" if profile.traffic.prompt_tokens else "answer_tokens"]
        resolver.report(path, f"{typical} tokens a request", f"at most the context of {context.value} tokens")
    return lengths


def _tokens(resolver: Resolver, path: str, text: str | int) -> Tokens | None:
    try:
        return units.tokens(text)
    except ValueError as error:
        resolver.report(path.split("."), repr(text), str(error))
        return None


def _share(context: int, name: str) -> Decision[Tokens]:
    found = assumption(name)
    return assumed(Tokens(max(1, int(context * found.value))), sentence(found.because))


def _typical(count: Tokens | None, context: int, what: str) -> Decision[Tokens]:
    if count is not None:
        return asked(count, f"The profile's typical {what} is {count} tokens")
    return _share(context, f"{what}-share")


def resolve_objective(text: str | float | None, name: str) -> Decision[Seconds]:
    """An objective in seconds: the profile's, or the house assumption `name`."""
    if text is None:
        found = assumption(name)
        return assumed(Seconds(found.value), sentence(found.because))
    return asked(units.seconds(text), f"The profile's objective is {text}")
