"""Memory that is neither weights, cache nor activation: buffers outside PyTorch, and CUDA graphs."""

from __future__ import annotations

from chartgen.catalog.gpus import HOPPER, Gpu
from chartgen.kernel.units import GIB, MIB
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
    more = rule.each * max(0, tensor_parallel - 2)
    return _measured(rule, more, f"buffers outside PyTorch with {words}")


def _measured(rule: Rule, more: float, because: str) -> Estimate:
    low = rule.value if rule.low is None else rule.low
    high = rule.value if rule.high is None else rule.high
    return Estimate(
        low=(low + more) * GIB,
        best=(rule.value + more) * GIB,
        high=(high + more) * GIB,
        stands_on="measured",
        because=because,
    )


def captured(limit: int) -> int:
    """How many batch sizes up to `limit` tokens the engine captures: 1, 2, 4, then by 8, from 256 on by 16."""
    sizes = [1, 2, 4, *range(8, 256, 8), *range(256, limit + 1, 16)]
    return sum(size <= limit for size in sizes)


def cuda_graph(engine: Behaviour, *, layers: int, seqs: int, tokens: int, eager: bool) -> Estimate:
    """CUDA graphs, as far as the release takes them from the budget.

    One graph a captured size for mixed batches up to the largest size, and one for decode up to `seqs`.
    """
    if eager:
        return exactly(0, "no CUDA graphs with --enforce-eager")
    if not engine.graphs_charged.value:
        return exactly(0, f"vLLM {engine.release} captures graphs outside its budget")
    largest = min(2 * seqs, int(engine.graphs_largest.value), tokens)
    graphs = captured(largest) + captured(min(seqs, largest))
    first = engine.graphs_first_mib.value + engine.graphs_token_mib.value * largest
    fixed = first + graphs * engine.graphs_each_mib.value
    layer = engine.graphs_layer_mib

    def total(each: float) -> float:
        return (fixed + graphs * layers * each) * MIB

    return Estimate(
        low=total(layer.low or 0) / 2,
        best=total(layer.value),
        high=total(layer.high or layer.value),
        stands_on="formula",
        because=f"{graphs} CUDA graphs of {layers} layers, which this release takes from its budget",
    )
