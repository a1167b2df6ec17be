"""The engine view itself: one container that runs a model server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chartgen.catalog.command_types import CommandLine, NotAnEngine
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.accelerators import Accelerators, of_container
from chartgen.lint.manifest import mapping, mappings
from chartgen.lint.relations import Relations
from chartgen.lint.servers import given, server_of, servers, split_words
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.views.engine.card import CardView, card_view
from chartgen.lint.views.engine.command import (
    CommandView,
    command_view,
    model_of,
    options_of,
    read_command,
    read_predictor,
)
from chartgen.lint.views.engine.container import Container, containers, declared_ports, environment, mounted_files
from chartgen.lint.views.engine.drain import DrainView, drain_view
from chartgen.lint.views.engine.fit import FitView, fit_view
from chartgen.lint.views.engine.host import HostView, host_view
from chartgen.lint.views.engine.model import ModelView, model_view
from chartgen.lint.views.engine.names import DeadVariable, UnknownWord, dead_variables, unknown_words
from chartgen.lint.views.engine.parallel import ParallelView, other_parallel, parallel_view
from chartgen.lint.views.engine.probes import ProbesView, probes_view
from chartgen.lint.views.engine.quantization import QuantizationView, quantization_view
from chartgen.lint.views.engine.release import ReleaseView, reading_engine, release_view
from chartgen.lint.views.engine.weights import WeightsView, weights_view
from chartgen.lint.views.pod import PodView
from chartgen.lint.workloads import PodSite


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineView:
    """A container that runs a model server."""

    server: str
    """Which server: vllm, sglang, tgi, tei, triton, nim, llama.cpp, ollama, lmdeploy."""
    container: str
    """The container's name."""
    release: ReleaseView
    """The release that its image holds."""
    command: CommandView
    """How it is started."""
    options: Mapping[str, Maybe[Json]]
    """Every vLLM option by its long name, such as engine.options["--max-model-len"]; null when it is not given."""
    port: Maybe[int]
    """The port it listens on."""
    declared_ports: tuple[int, ...]
    """The ports that its container names."""
    neighbour_ports: tuple[int, ...]
    """The ports that the pod's other containers name."""
    paths: tuple[str, ...]
    """The paths it answers, as far as the catalogue knows."""
    env: Mapping[str, str | None]
    """Its environment variables; null for a value that the files do not tell."""
    model: ModelView
    """The model it serves."""
    quantization: QuantizationView
    """How its weights are quantized."""
    unknown_words: tuple[UnknownWord, ...]
    """Option values that the release does not have."""
    dead_variables: tuple[DeadVariable, ...]
    """Variables without effect on this release."""
    parallel: ParallelView
    """How it spreads the model over GPUs."""
    gpus: Accelerators
    """What its container asks for."""
    gpus_of_group: Maybe[int]
    """GPUs of one replica: those of the pod, times the pods of a group."""
    card: CardView
    """The card it runs on."""
    fit: FitView
    """Whether the model fits."""
    host: HostView
    """Its share of the node."""
    weights: WeightsView
    """Where its weights come from."""
    probes: ProbesView
    """Its probes."""
    drain: DrainView
    """How it stops."""
    group_has_weights: bool
    """Whether the workers of its group mount a volume where the model's folder is, if the leader does."""
    key_required: Maybe[bool]
    """Whether it asks clients for a key: --api-key or VLLM_API_KEY."""
    run_as_user: int | None
    """The user id that the pod or the container asks for; null when none is."""
    on_cpu: bool
    """Whether it is built for CPUs, or told to use them, and wants no GPU."""
    at: tuple[Step, ...]
    """Where the container stands."""


def engine_views(pod: PodView, relations: Relations, site: PodSite) -> Iterator[tuple[Container, EngineView]]:
    """Every model server of a pod."""
    for container in containers(site):
        server = server_of(container.value)
        if server is None and container.is_model:
            server = "vllm"
        if server is not None:
            view = _view(server, container, pod, relations)
            if view is not None:
                yield container, view


def _view(server: str, container: Container, pod: PodView, relations: Relations) -> EngineView | None:
    """The view of a container that seems to run a server; None when its words start something else."""
    env = environment(container, relations)
    image = container.value.get("image")
    release = release_view(server, image if isinstance(image, str) else "")
    reading = None
    if container.is_model:
        reading = read_predictor(container, release, env)
    elif server == "vllm":
        reading = read_command(container, release, env, mounted_files(container, relations))
        if isinstance(reading, NotAnEngine):
            return None
    command = command_view(reading, release, container)
    options = options_of(reading)
    if isinstance(reading, CommandLine):
        env = {**env, **reading.env}
    model, found = model_view(model_of(reading))
    gpus = of_container(container.value, container.site, relations.bundle)
    parallel = parallel_view(options)
    if server != "vllm":
        parallel, nodes = other_parallel(servers()[server], container.value)
        options = {**options, "--nnodes": nodes}
    card = card_view(container.site.spec, gpus)
    on_cpu = release.device in {"cpu", "tpu"} or (env.get("VLLM_TARGET_DEVICE") or "") == "cpu"
    return EngineView(
        server=server,
        container=container.name,
        release=release,
        command=command,
        options=options,
        port=_port(server, container, options, env),
        declared_ports=declared_ports(container),
        neighbour_ports=tuple(
            port
            for other in containers(container.site)
            if other.path != container.path
            for port in declared_ports(other)
        ),
        paths=_paths(server, release),
        env=env,
        model=model,
        quantization=quantization_view(found, model.catalogued, card, options),
        unknown_words=unknown_words(reading, release, container),
        dead_variables=dead_variables(release, container),
        parallel=parallel,
        gpus=gpus,
        gpus_of_group=gpus.count if isinstance(gpus.count, Unknown) else gpus.count * pod.group_size,
        card=card,
        fit=fit_view(found, model.catalogued, card, gpus, parallel, release, options),
        host=host_view(container, pod.volumes),
        weights=weights_view(container, model, pod.volumes, env, options["--download-dir"], release),
        probes=probes_view(container),
        drain=drain_view(container, pod.grace, _shutdown(release, options)),
        group_has_weights=_group_has_weights(container, model, relations),
        key_required=_key(options["--api-key"], env),
        run_as_user=_user(container),
        on_cpu=on_cpu or options["--device"] == "cpu",
        at=container.path,
    )


def _shutdown(release: ReleaseView, options: Mapping[str, Maybe[Json]]) -> Maybe[Json]:
    """--shutdown-timeout where the release has it: without, nothing is drained."""
    features = release.features
    if isinstance(features, frozenset) and "drain" not in features:
        return 0
    return options["--shutdown-timeout"]


def _key(option: Maybe[Json], env: Mapping[str, str | None]) -> Maybe[bool]:
    if "VLLM_API_KEY" in env:
        return True
    return option if isinstance(option, Unknown) else option is not None


def _port(
    server: str, container: Container, options: Mapping[str, Maybe[Json]], env: Mapping[str, str | None]
) -> Maybe[int]:
    """The port that the engine listens on: its option, its variable, or its default."""
    facts = servers()[server]
    if container.is_model:
        return Unknown(because="the predictor's runtime chooses the port", run="kubectl get servingruntimes -o yaml")
    if server == "vllm":
        option = options["--port"]
        if isinstance(option, Unknown | int):
            return option
        return facts.port
    text = next(given(split_words(container.value), facts.port_flags), None)
    if text is not None:
        number = whole_number(text)
        return number if number is not None else Unknown(because=f"the port is {text}", run="the rendered manifest")
    if facts.parallel and any(True for _ in given(split_words(container.value), facts.parallel.files)):
        return Unknown(because="its file of options may set the port", run="the file")
    variable = next((env[name] for name in facts.port_variables if name in env), None)
    number = whole_number(variable or "")
    return number if number is not None else facts.port


def _paths(server: str, release: ReleaseView) -> tuple[str, ...]:
    known = servers()[server].health
    if server != "vllm":
        return known
    return tuple(sorted({*known, *reading_engine(release).endpoints}))


def _user(container: Container) -> int | None:
    for context in (container.value.get("securityContext"), container.site.spec.get("securityContext")):
        user = mapping(context).get("runAsUser")
        if isinstance(user, int):
            return user
    return None


def _group_has_weights(container: Container, model: ModelView, relations: Relations) -> bool:
    folder = model.id
    if not isinstance(folder, str) or not folder.startswith("/"):
        return True
    workers = [
        site
        for site in relations.bundle.pods_of.get(id(container.site.manifest), ())
        if site.shape.role == "worker" and site is not container.site
    ]
    own = _mounts_above(folder, container.value)
    return not own or all(any(_mounts_above(folder, one.value) for one in containers(site)) for site in workers)


def _mounts_above(folder: str, container: Mapping[str, object]) -> bool:
    paths = [str(mount.get("mountPath")).rstrip("/") for mount in mappings(container.get("volumeMounts"))]
    return any(path and (folder == path or folder.startswith(f"{path}/")) for path in paths)
