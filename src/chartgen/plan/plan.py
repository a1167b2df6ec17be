"""From facts to a plan. Read it as a recipe: each step is one module of this folder."""

from __future__ import annotations

from chartgen.catalog.assumptions import assumption, sentence
from chartgen.kernel.decision import Decision, asked, assumed, fact
from chartgen.kernel.errors import InputError
from chartgen.kernel.units import Bytes
from chartgen.plan.asking import check_platform, group_of, located, queue_of, request_of
from chartgen.plan.batching import plan_batching, weakest
from chartgen.plan.carries import plan_carries
from chartgen.plan.command_line import plan_command_line
from chartgen.plan.drain import plan_drain
from chartgen.plan.host import plan_host
from chartgen.plan.layout import plan_layout
from chartgen.plan.namespace import plan_namespace
from chartgen.plan.notes import notes_of
from chartgen.plan.observability import plan_observability
from chartgen.plan.placement import place
from chartgen.plan.platform_side import plan_platform_side
from chartgen.plan.replicas import load_of, plan_replicas
from chartgen.plan.route import plan_route
from chartgen.plan.start_up import plan_start_up
from chartgen.plan.storage import plan_storage
from chartgen.plan.types import Plan, Storage
from chartgen.resolve import Resolved


def make_plan(resolved: Resolved) -> Plan:
    """Work out every number of a deployment.

    Raises:
        Infeasible: no allocation of the asked cards carries the model and its context.
        InputError: the platform cannot run what was asked for.
    """
    check_platform(resolved)
    laid = plan_layout(resolved)
    layout = laid.layout
    batching = plan_batching(resolved, laid.fits)
    stored = laid.stored
    host = plan_host(
        gpus=layout.most_gpus_per_node,
        weights_per_gpu=Bytes(stored // (layout.most_gpus_per_node * layout.nodes.value)),
        shares_model=layout.most_gpus_per_node > 1,
    )
    storage = _storage(resolved, stored)
    start_up = plan_start_up(weights=stored, storage=storage)
    drain = plan_drain(
        answer=resolved.lengths.answer.value,
        gap=resolved.token_gap.value,
        can_drain=resolved.engine.has("drain"),
        release=resolved.engine.release,
    )
    carries = plan_carries(resolved, laid.fits, batching.in_flight.value)
    replicas = plan_replicas(load_of(resolved, carries, start_up))
    request = request_of(resolved, layout, replicas=replicas, start_up=start_up, host=host)
    with located(resolved.loaded):
        placement = place(request)
        group = group_of(resolved, request)
    queue = queue_of(resolved, request)
    route = plan_route(resolved, drain)
    line = plan_command_line(resolved, layout, batching, carries, drain, route, storage)
    return Plan(
        resolved=resolved,
        fit=weakest(laid.fits),
        layout=layout,
        batching=batching,
        carries=carries,
        replicas=replicas,
        host=host,
        start_up=start_up,
        drain=drain,
        placement=placement,
        group=group,
        queue=queue,
        namespace=plan_namespace(
            resolved,
            replicas,
            host,
            placement,
            group,
            storage,
            step=start_up.replica + placement.min_ready_seconds.value,
            grace=drain.grace.value,
        ),
        node_side=plan_platform_side(resolved, request, placement, replicas, group),
        storage=storage,
        route=route,
        observability=plan_observability(resolved.engine),
        prometheus=_prometheus(resolved),
        served_name=fact(
            resolved.loaded.name,
            "The profile's name: what clients ask for, and the label by which triggers find this model's metrics",
        ),
        flags=line.flags,
        env=line.env,
        notes=notes_of(resolved, carries, storage, placement, group, queue, route, line),
    )


def _storage(resolved: Resolved, weights: Bytes) -> Storage:
    wanted = resolved.profile.weights
    if resolved.hub is None and (wanted.from_ is None or wanted.from_ == "hub"):
        expected = "weights.from: pvc:CLAIM, as a config.json does not say where the weights are"
        raise InputError([resolved.loaded.problem(["model"], found=repr(resolved.profile.model), expected=expected)])
    return plan_storage(
        wanted=wanted,
        repository=resolved.hub or "",
        weights=weights,
        cloud=resolved.cloud.value,
        gated=resolved.model.gated,
    )


def _prometheus(resolved: Resolved) -> Decision[str]:
    named = resolved.profile.cluster.prometheus
    if named is not None:
        return asked(named, "The address that the profile states")
    found = assumption("prometheus-address")
    return assumed("http://prometheus-operated.monitoring.svc:9090", sentence(found.because))
