"""CPU, memory and shared memory of one pod."""

from __future__ import annotations

from chartgen.catalog.assumptions import assumption, number, sentence, whole
from chartgen.kernel.decision import assumed, worked_out
from chartgen.kernel.units import GIB, Bytes
from chartgen.plan.types import Host


def plan_host(*, gpus: int, weights_per_gpu: Bytes, shares_model: bool) -> Host:
    """Size the pod from its ranks; whole CPUs and equal limits make it Guaranteed, so it can be pinned."""
    each, server = whole("cpus-per-gpu"), whole("cpus-of-server")
    cpus = worked_out(
        gpus * each + server,
        f"{each} for each of {gpus} GPU{'s' if gpus > 1 else ''} ({assumption('cpus-per-gpu').because}) and "
        f"{server} for the API server; whole and equal as request and limit, so the pod is Guaranteed",
    )
    floor, ceiling = number("memory-floor-per-gpu"), number("memory-ceiling-per-gpu")
    rank = round(min(max(weights_per_gpu / GIB, floor), ceiling))
    shared = whole("shared-memory") if shares_model else 0
    total = gpus * rank + whole("memory-of-server") + shared
    counted = f", and {shared} GiB of /dev/shm, which counts against the limit" if shared else ""
    memory = worked_out(
        f"{total}Gi",
        f"{rank} GiB for each of {gpus} GPU{'s' if gpus > 1 else ''} (its share of the weights passes through "
        f"host memory, at least {floor:.0f} and at most {ceiling:.0f} GiB), "
        f"{whole('memory-of-server')} GiB for the API server{counted}",
    )
    return Host(
        cpus=cpus,
        memory=memory,
        memory_bytes=Bytes(total * GIB),
        shared_memory=assumed(f"{shared}Gi", sentence(assumption("shared-memory").because)) if shared else None,
    )
