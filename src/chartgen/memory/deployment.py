"""A Deployment: the question to the memory model, and the memory its cards show."""

from __future__ import annotations

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.models import Model
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import MIB, gib
from chartgen.memory.figures import Estimate, exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What is asked: a model on cards, with the engine's flags. None leaves a flag to the engine."""

    model: Model
    """The model."""
    gpu: Gpu
    """The card; every rank has one, or one slice of one."""
    release: str
    """Release of the engine, as 0.33.0."""
    quantization: str | None = None
    """Quantization scheme to load with; None: as the checkpoint is stored."""
    dtype: str | None = None
    """`--dtype`; None: the model's own."""
    kv_cache_dtype: str = "auto"
    """`--kv-cache-dtype`."""
    tensor_parallel: int = 1
    """`--tensor-parallel-size`."""
    pipeline_parallel: int = 1
    """`--pipeline-parallel-size`."""
    expert_parallel: bool = False
    """`--enable-expert-parallel`: each rank holds whole experts, a share of their number."""
    max_model_len: int | None = None
    """`--max-model-len`."""
    max_num_seqs: int | None = None
    """`--max-num-seqs`."""
    max_num_batched_tokens: int | None = None
    """`--max-num-batched-tokens`."""
    gpu_memory_utilization: float | None = None
    """`--gpu-memory-utilization`."""
    enforce_eager: bool = False
    """`--enforce-eager`."""
    mig: str | None = None
    """MIG profile when each rank has a slice rather than a card."""
    prefix_caching: bool | None = None
    """`--enable-prefix-caching`: hybrids with states then keep one more state a sequence."""

    @property
    def gpus(self) -> int:
        """Cards or slices it takes."""
        return self.tensor_parallel * self.pipeline_parallel


def visible_memory(gpu: Gpu, mig: str | None) -> Estimate:
    """Memory that a process sees on a card or a slice of it."""
    if mig is not None:
        profile = gpu.mig[mig]
        because = f"a {mig} slice of {gpu.title} shows {profile.mib:.0f} MiB"
        return exactly(profile.mib * MIB, because, "assumed" if profile.assumed else "measured")
    low, best, high = (gpu.visible_bytes(which) for which in ("low", "best", "high"))
    because = f"{gpu.title} shows {gib(best)} to a process"
    return Estimate(low=low, best=best, high=high, stands_on="measured", because=because)
