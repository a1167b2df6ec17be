"""A question to the memory model as people ask it: by names, by the engine's own option names, some left open."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from chartgen.catalog.gpus import Gpu, gpu
from chartgen.catalog.kv_dtypes import KvDtype, kv_dtype
from chartgen.catalog.model_config import read_model
from chartgen.catalog.model_names import resolve
from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import about, one_of, problems_of, shown, structure
from chartgen.kernel.units import LARGEST_COUNT, tokens
from chartgen.kernel.yaml_source import Document
from chartgen.memory.deployment import Deployment
from chartgen.memory.release import Release, release
from chartgen.memory.support import legal_sizes, obstacle, refusal
from chartgen.memory.weights import BYTES, scheme_of

_Size = Annotated[int, about("a whole number of at least 1", ge=1, le=LARGEST_COUNT)]
_Length = Annotated[int | str, about("a token count", examples=[32768, "32k"])]
_Share = Annotated[float, about("a share of the card's memory", gt=0, le=1)]

_SLICE = re.compile(r"(?P<card>.+?)[\s-]+MIG[\s-]+(?P<profile>\d+g\.\d+gb)(?:\+me)?", re.IGNORECASE)
_DTYPES = {"half": "float16", "float": "float32", "auto": None, **{name: name for name in BYTES}}
"""Values of `--dtype`, and the element type that each means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. Fields are named like the options; None leaves one to the engine or the planner."""

    gpu: Annotated[str, about("a card, as people, drivers or node labels name it", examples=["H100"])]
    model: Annotated[str | None, about("a model's id, name or size, or a path to its config.json")] = None
    config: Annotated[str | None, about("a path to a config.json or its folder")] = None
    engine: Annotated[str | None, about("a release of the engine; the newest when not given")] = None
    mig: Annotated[str | None, about("a MIG profile, when a slice is meant", examples=["3g.40gb"])] = None
    concurrency: _Size = 1
    context: _Length | None = None
    max_model_len: _Length | None = None
    max_num_seqs: _Size | None = None
    max_num_batched_tokens: _Size | None = None
    tensor_parallel_size: _Size | None = None
    pipeline_parallel_size: _Size | None = None
    quantization: str | None = None
    dtype: str | None = None
    kv_cache_dtype: str | None = None
    gpu_memory_utilization: _Share | None = None
    enforce_eager: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its names resolved."""

    question: Question
    """The question."""
    deployment: Deployment
    """The deployment asked for; parallel sizes that the question leaves open are 1."""
    notes: tuple[str, ...]
    """What a reader should know about how names were read."""


class _Names:
    """Resolves the names of one question and collects what is wrong with them."""

    def __init__(self, question: Question, file: str, prefix: str) -> None:
        self.question = question
        self.file = file
        self.prefix = prefix
        self.problems: list[InputProblem] = []
        self.notes: list[str] = []

    def wrong(self, option: str, found: str, expected: str, nearest: str | None = None) -> None:
        path = self.prefix + (option.replace("_", "-") if self.prefix else option)
        self.problems.append(
            InputProblem(
                file=self.file,
                position=None,
                path=path,
                found=found,
                expected=expected,
                nearest=nearest,
            )
        )

    def unknown(self, option: str, error: UnknownName, expected: str) -> None:
        more = f"; {error.hint}" if error.hint else ""
        self.wrong(option, repr(error.name), f"{expected}{more}", error.nearest)

    def model(self) -> Model | None:
        question = self.question
        named = question.config or question.model
        if named is None:
            self.wrong("model", "nothing", "a model, or --config with the path of its config.json")
            return None
        try:
            if question.config is not None:
                return read_model(Path(question.config))
            found = resolve(named, Path())
        except InputError as error:
            self.problems.extend(error.problems)
            return None
        except UnknownName as error:
            self.unknown("model", error, "a model of the catalog")
            return None
        if found.model.base is not None or found.reference:
            self.notes.append(found.says)
        return found.model

    def card(self) -> tuple[Gpu, str | None] | None:
        name, profile = self.question.gpu, self.question.mig
        sliced = _SLICE.fullmatch(name.strip())
        if sliced is not None:
            name, profile = sliced["card"], profile or sliced["profile"].lower()
        try:
            found = gpu(name)
        except UnknownName as error:
            self.unknown("gpu", error, "a card of the catalog (chartgen catalog gpus)")
            return None
        if profile is not None and profile not in found.mig:
            expected = one_of(found.mig) if found.mig else f"no slice: {found.title} cannot be sliced"
            self.wrong("mig", repr(profile), expected)
            return None
        return found, profile

    def release(self) -> Release | None:
        from chartgen.catalog.engines import newest  # noqa: PLC0415 - reads the catalogue of releases

        try:
            found = release(self.question.engine or newest())
        except ValueError:
            self.wrong("engine", repr(self.question.engine), f"a release of the engine such as {newest()}")
            return None
        if found.note:
            self.notes.append(found.note)
        if found > release(newest()):
            self.notes.append(f"vLLM {found} is newer than the newest that is known; it is taken for {newest()}")
        return found

    def scheme(self, known: Model, card: Gpu, at: Release) -> str | None:
        asked = self.question.quantization
        stored = quantization(known.checkpoint.scheme)
        try:
            wanted = scheme_of(known, asked)
        except UnknownName as error:
            self.unknown("quantization", error, one_of(error.known))
            return None
        if stored.key != "none" and wanted.bits == stored.bits:
            wanted = scheme_of(known, "stored") if asked == "compressed-tensors" else stored
        elif stored.key not in {"none", wanted.key}:
            self.wrong("quantization", repr(asked), f"{stored.key}, as the weights of {known.id} are stored")
            return None
        self._runs(wanted, card, at)
        if stored.key == "none" and wanted.key != "none" and not wanted.at_load:
            self.notes.append(f"the weights are taken to be a copy of {known.id} stored as {wanted.title}")
        return wanted.key

    def words(self) -> None:
        """Names that can be checked without a card."""
        if self.question.quantization is not None:
            try:
                quantization(self.question.quantization)
            except UnknownName as error:
                self.unknown("quantization", error, one_of(error.known))

    def _runs(self, wanted: Quantization, card: Gpu, at: Release) -> None:
        because = refusal(card, wanted, str(at))
        if because is not None:
            path = "quantization" if self.question.quantization else "gpu"
            self.wrong(path, wanted.title, f"what {card.title} and vLLM {at} can run: {because}")

    def cache(self, card: Gpu, at: Release) -> str:
        asked = self.question.kv_cache_dtype or "auto"
        try:
            found: KvDtype = kv_dtype(asked)
        except UnknownName as error:
            self.unknown("kv_cache_dtype", error, one_of(error.known))
            return asked
        if at < release(found.since):
            self.wrong("kv_cache_dtype", asked, f"an element type that vLLM {at} has; this came with {found.since}")
        if found.nvidia and card.vendor == "nvidia" and card.capability < _capability(found.nvidia):
            self.wrong("kv_cache_dtype", asked, f"compute capability {found.nvidia}, {card.title} has less")
        return asked

    def dtype(self, card: Gpu | None) -> str | None:
        asked = self.question.dtype
        if asked is not None and asked not in _DTYPES:
            self.wrong("dtype", repr(asked), one_of(_DTYPES))
            return None
        found = _DTYPES[asked or "auto"]
        if found is not None and card is not None and found not in card.dtypes:
            able = [name for name in BYTES if name in card.dtypes]
            self.wrong("dtype", repr(asked), f"an element type that {card.title} computes with: {one_of(able)}")
        return found

    def length(self, known: Model | None) -> int | None:
        """The longest request: the first of the two options that is given, both within the model's own limit."""
        given = [found for name in ("max_model_len", "context") if (found := self._tokens(name, known)) is not None]
        return given[0] if given else None

    def _tokens(self, option: str, known: Model | None) -> int | None:
        asked = getattr(self.question, option)
        if asked is None:
            return None
        try:
            count = int(tokens(asked))
        except ValueError:
            self.wrong(option, shown(asked), "a token count such as 32768 or 32k")
            return None
        if known is not None and count > known.max_position_embeddings:
            most = f"at most {known.max_position_embeddings} tokens, the longest that {known.id} is made for"
            self.wrong(option, f"{count} tokens", most)
        return count

    def sizes(self, known: Model, scheme: str, card: Gpu) -> None:
        size = self.question.tensor_parallel_size
        if size is not None:
            because = obstacle(known, scheme, size)
            whole = obstacle(known, scheme, size, expert_parallel=True) if known.experts else because
            if because is not None and whole is not None:
                near = one_of(legal_sizes(known, scheme, max(size * 2, *card.per_node)))
                self.wrong("tensor_parallel_size", f"{size}: {because}", near)
        stages = self.question.pipeline_parallel_size
        if stages is not None and stages > known.layers:
            self.wrong("pipeline_parallel_size", str(stages), f"at most its {known.layers} layers")


def read_question(document: Document, file: str) -> Question:
    """The question that one JSON object asks.

    Raises:
        InputError: every key and value that no question has.
    """
    problems = problems_of(document, Question, file)
    told = {problem.path for problem in problems}
    given = document.value if isinstance(document.value, dict) else {}
    for name, value in given.items():  # a schema takes 8192.0 for a whole number, the engine does not
        if isinstance(value, float) and name != "gpu_memory_utilization" and name not in told:
            place = document.value_position((name,))
            problems.append(
                InputProblem(file=file, position=place, path=name, found=shown(value), expected="a whole number")
            )
    if problems:
        raise InputError(problems)
    return structure(document, Question, file)


def ask(question: Question, file: str, prefix: str = "") -> Asked:
    """Resolve a question.

    `file` names the input in errors, `prefix` stands before an option's name there (-- on a command line).

    Raises:
        InputError: every name that is not known and every value that cannot be, with what would do.
    """
    names = _Names(question, file, prefix)
    known, card, at = names.model(), names.card(), names.release()
    dtype, length = names.dtype(card[0] if card else None), names.length(known)
    scheme, cache = None, "auto"
    if card is not None and at is not None:
        cache = names.cache(card[0], at)
        if known is not None:
            scheme = names.scheme(known, card[0], at)
            if scheme is not None:
                names.sizes(known, scheme, card[0])
    else:
        names.words()
    if names.problems or known is None or card is None or at is None:
        raise InputError(names.problems)
    deployment = Deployment(
        model=known,
        gpu=card[0],
        mig=card[1],
        release=str(at),
        quantization=scheme,
        dtype=dtype,
        kv_cache_dtype=cache,
        tensor_parallel=question.tensor_parallel_size or 1,
        pipeline_parallel=question.pipeline_parallel_size or 1,
        max_model_len=length,
        max_num_seqs=question.max_num_seqs,
        max_num_batched_tokens=question.max_num_batched_tokens,
        gpu_memory_utilization=question.gpu_memory_utilization,
        enforce_eager=question.enforce_eager,
    )
    return Asked(question=question, deployment=deployment, notes=tuple(names.notes))


def _capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
