"""Memory that is neither weights, cache nor activation: buffers outside PyTorch, and CUDA graphs."""

from __future__ import annotations

from chartgen.catalog.gpus import HOPPER, Gpu
from chartgen.kernel.units import GIB
from chartgen.memory.engine import Behaviour, Rule
from chartgen.memory.figures import Estimate, exactly


def non_torch(gpu: Gpu, tensor_parallel: int, pipeline_parallel: int, engine: Behaviour) -> Estimate:
    """Memory outside PyTorch on one rank: libraries, and buffers towards its peers."""
    link = gpu.interconnect.kind if gpu.interconnect else "pcie"
    if tensor_parallel == 1:
        alone = pipeline_parallel == 1
        rule = engine.non_torch_alone if alone else engine.non_torch_pipeline
        words = "one GPU" if alone else "pipeline peers"
    elif link == "pcie":
        rule, words = engine.non_torch_pcie, f"{tensor_parallel} GPUs over PCIe"
    elif link == "nvlink" and gpu.capability >= HOPPER:
        rule, words = engine.non_torch_nvlink_hopper, f"{tensor_parallel} GPUs over NVLink"
    else:
        rule, words = engine.non_torch_nvlink_other, f"{tensor_parallel} GPUs over {link}"
    return _from(rule, f"buffers outside PyTorch with {words}")


def cuda_graph(engine: Behaviour, *, eager: bool) -> Estimate:
    """CUDA graphs, as far as the release takes them from the budget."""
    if eager:
        return exactly(0, "no CUDA graphs with --enforce-eager")
    if not engine.graphs_charged.value:
        return exactly(0, f"vLLM {engine.release} captures graphs outside its budget")
    return _from(engine.graphs_gib, "CUDA graphs, which this release takes from its budget")


def _from(rule: Rule, because: str) -> Estimate:
    return Estimate(
        low=(rule.value if rule.low is None else rule.low) * GIB,
        best=rule.value * GIB,
        high=(rule.value if rule.high is None else rule.high) * GIB,
        stands_on="measured",
        because=because,
    )
