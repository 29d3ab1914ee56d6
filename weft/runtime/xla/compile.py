"""Region -> XLA executable; jax, and how it is set up."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import cache, errors, flags, machine
from weft.core.at_exit import end_threads
from weft.core.errors import raise_from
from weft.graph.kernel_call import bind, flat_arg_names
from weft.graph.op_def import OpDef
from weft.ops.kit.target import tracing_for
from weft.passes.client_graph import Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.control_flow.structured_nodes import has_loops
from weft.passes.devices import describe
from weft.passes.regions.units import Unit
from weft.runtime.devices import kinds
from weft.runtime.devices.hosts import use_several_hosts
from weft.runtime.devices.memory import can_overwrite, memory_for_host
from weft.runtime.resources import Variable
from weft.runtime.xla import haste, processes
from weft.runtime.xla.cut_fusion import compute_once
from weft.runtime.xla.few_rows import MOST_CORES, multiply_few_rows
from weft.runtime.xla.hush import import_hushed, report_cache
from weft.runtime.xla.interrupts import heed_ignored_interrupts, interruptible
from weft.runtime.xla.lower import NotCompilable
from weft.runtime.xla.names import PROFILE, named, note_program
from weft.runtime.xla.nans import keep_nans
from weft.runtime.xla.options import Options, compile_with
from weft.runtime.xla.room import Largest, guarded, is_countable, need
from weft.runtime.xla.span import Span
from weft.runtime.xla.traced_state import SWITCH_SIZE
from weft.runtime.xla.tracer import Tracer
from weft.runtime.xla.turned import turn_matrices

_ASSEMBLER_ATTEMPTS = 3
_MOST_KERNELS = 2**30  # that are launched one by one, not as a graph
_BETWEEN_TRIMS = 256  # programs that are compiled before the cache is looked at again
_compiled_programs = itertools.count(1)
_lock = threading.Lock()
_jax: Any = None


def load() -> Any:
    """The jax module, set up on first use: 64-bit types, compiled programs cached on disk."""
    global _jax
    if _jax is None:
        with _lock:
            if _jax is None:
                heed_ignored_interrupts()  # of its own callbacks, while it is imported, too
                jax = interruptible(import_hushed)  # an interrupt of its modules' start is a crash
                atexit.register(end_threads)  # after jax's own, so that it is called before
                config: Any = jax.config
                use_several_hosts(jax)
                config.update("jax_enable_x64", True)
                directory = flags.cache_directory()
                if directory is not None and config.jax_compilation_cache_dir is None:
                    config.update("jax_compilation_cache_dir", directory)
                    config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
                    config.update("jax_persistent_cache_min_entry_size_bytes", 0)
                    cache.trim()
                report_cache(jax)
                _jax = jax
    return _jax


@dataclass
class Program:
    """A compiled region.

    `call(donated, kept, inputs, rngs, switch) -> (new values, outputs, rest)`; `rest` is
    (generators of random nodes inside loops, states of arrays that leave, excess if room was
    guessed, whether it was stopped if it can be, whether a check failed if it has any, a value that
    is there when it has ended if it has staged inputs and `done_by` is None).

    On the host a program that only updates variables has one output, which says that it is done: a
    step is over when it has been computed, and the new values may be donated to the next one by
    then. An accelerator is not waited for.
    """

    call: Callable[..., Any]
    rng_blocks: list[int]
    reshapes: bool  # whether a variable's shape differs after the call
    leaving: list[Any]  # arrays that leave; `to_host` makes them ones of the host
    factor: int  # how many times the guessed room for loops there is; 0 where nothing was guessed
    waits: bool  # whether the one output only says that it is done
    watched: bool  # whether it looks at the switch
    checked: bool  # whether it has checks of values, which may fail
    beforehand: list[tuple[int, int]]  # inputs, and below what their elements must be
    done_by: int | None  # the number of an output that says that it has ended

    def stopped(self, results: Any) -> Any:
        """Of what a call of a program gave that is watched: whether it was stopped, on device."""
        return results[2][3]


@dataclass(frozen=True)
class Spec:
    """A signature of a region: arrays as (shape, dtype), None for an empty variable."""

    cells: tuple[Any, ...]
    inputs: tuple[Any, ...]
    static: tuple[tuple[Edge, np.ndarray], ...]
    factor: int = 1
    staged: frozenset[int] = frozenset()  # inputs that lie in memory of the host
    given: tuple[tuple[Edge, Any], ...] = ()  # objects of the host and their forms, see LoopProgram
    room: int = 0  # for what loops save, where it is known


def compile_region(
    unit: Unit, cells: list[Variable], spec: Spec, device: Any = None, span: Span | None = None
) -> Program:
    """Traces the region's kernels into one XLA program.

    `cells` are the variables of `unit.cells`, in order. Written ones are donated, so that an update
    can reuse their memory. `device` is jax's, None for its default. `span`: the devices that the
    program is for, where it is not for one.
    """
    jax = load()
    info = describe(f"/device:{device.platform if device is not None else 'cpu'}:0")
    trace = Tracer(unit, cells, dict(spec.static), spec.factor, info)
    on_host = kinds.is_host(device)
    trace.says_done = not unit.outputs and on_host
    written = list(unit.cells.values())
    if span is None and has_collectives(unit.nodes):
        span = processes.ProcessSpan(device)
    trace.agree = None if span is None else span.agree
    trace.memory_for_host = None if on_host or span is not None else memory_for_host(device)
    sharding = _sharding(jax, device) if span is None else span.sharding
    arrays = [_abstract(jax, cell, sharding) for cell in spec.cells]
    donated = [a for a, w in zip(arrays, written, strict=True) if w]
    kept = [a for a, w in zip(arrays, written, strict=True) if not w]
    trace.staged, trace.memory = spec.staged, sharding
    trace.given, trace.room = spec.given, spec.room
    inputs = [
        _abstract(jax, each, trace.memory_for_host if i in spec.staged else sharding)
        for i, each in enumerate(spec.inputs)
    ]
    count = len(trace.random_nodes) + len(trace.inner_random)
    rngs = jax.ShapeDtypeStruct((count, 6), np.uint32, sharding=sharding) if count else None
    switch = (
        None if span is not None and not span.can_stop else _switch(jax, unit, device, sharding)
    )
    run = named(trace.run, unit, (spec.cells, spec.inputs, spec.factor))
    whole = run if span is None else span.across(run)
    jitted = jax.jit(whole, donate_argnums=(0,), keep_unused=span is not None)
    kind = None if device is None else device.platform
    with warnings.catch_warnings(), _precision(jax), tracing_for(kind):
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        args = donated, kept, inputs, rngs, switch
        traced = _traced(jitted, trace, args)
        leaves_as_they_were = trace.objects.watched or (trace.checked and trace.reshapes)
        # Memory of a variable goes to the first result of its shape: its new value, if that has it.
        is_mixed_up = trace.reshapes and trace.memory_for_host is not None
        if (trace.objects.guessed or leaves_as_they_were or is_mixed_up) and donated:
            # It may have to be called again with the same variables, or leave them as they were.
            traced = _traced(jax.jit(whole, keep_unused=span is not None), trace, args)
        lowered = traced.lower()
        if on_host:
            compute_once(lowered.compiler_ir())
            keep_nans(lowered.compiler_ir())
            if machine.cores() <= MOST_CORES:
                multiply_few_rows(lowered.compiler_ir())
            if span is None:
                turn_matrices(lowered.compiler_ir())
        try:
            options = _host_options(spec, span, traced.jaxpr) if on_host else _device_options()
            executable = _compiled(lowered, options)
        except Exception as error:
            raise_from(translate(error), error)
    if next(_compiled_programs) % _BETWEEN_TRIMS == 0:
        cache.trim()
    note_program(run, executable)
    if span is not None:
        executable = span.program(executable)
    factor = spec.factor if trace.objects.guessed else 0
    if on_host:
        _check_loops(unit, executable)
        executable = guarded(executable, trace.largest)
    return Program(
        executable, trace.rng_blocks, trace.reshapes, trace.leaving, factor, trace.says_done,
        trace.objects.watched, trace.checked, trace.beforehand, trace.done_by,
    )  # fmt: skip


def has_collectives(nodes: Sequence[Node]) -> bool:
    """Whether any of the nodes, or of those inside of them, reaches other processes."""
    return any(
        node.definition.collective or any(has_collectives(g.nodes) for g in subgraphs(node))
        for node in nodes
    )


def _sharding(jax: Any, device: Any) -> Any:
    return jax.sharding.SingleDeviceSharding(device) if device is not None else None


def _traced(jitted: Any, trace: Tracer, args: tuple[Any, ...]) -> Any:
    """The program with its shapes, unless XLA cannot count its bytes."""
    try:
        traced = jitted.trace(*args)
    except errors.ResourceExhaustedError as error:
        error.__dict__.pop("__notes__", None)  # jax adds a word on its frames
        raise error.with_traceback(None) from None
    if not is_countable(traced.jaxpr):
        # What is inside of kernels may not be there on the host: the interpreter will tell.
        raise NotCompilable(trace.largest.node or trace.unit.nodes[0], "more bytes than XLA counts")
    return traced


def _check_loops(unit: Unit, executable: Any) -> None:
    """A loop may be given more room than it uses: if there can be none, it is interpreted."""
    loop = next((node for node in unit.nodes if subgraphs(node)), None)
    if loop is not None and need(executable) > machine.memory():
        raise NotCompilable(loop, "more room than the machine has memory")


def _device_options() -> Options | None:
    """How XLA compiles for an accelerator, where not as it does by itself."""
    return {"xla_gpu_graph_min_graph_size": _MOST_KERNELS} if PROFILE.is_on else None


def _host_options(spec: Spec, span: Span | None, jaxpr: Any) -> Options | None:
    """How XLA compiles for the host, where not as it does by itself.

    Of 32-bit floats, its own convolutions take up to a third less time than those of the library it
    prefers, and on ARM its own products of matrices a sixth. That stays for reductions, and for
    narrower numbers. Functions of floats take up to a third less in vectors of the whole width;
    other programs, as updates of variables and small loops are, a tenth more.
    """
    found = haste.options(jaxpr) | (dict(span.options) if span is not None else {})
    narrow = any(each is not None and each[1].itemsize <= 2 for each in spec.cells + spec.inputs)
    if not narrow:
        found["xla_cpu_experimental_ynn_fusion_type"] = ",".join(
            f"LIBRARY_FUSION_TYPE_{kind}"
            for kind in (("REDUCE",) if machine.IS_ARM else ("REDUCE", "INDIVIDUAL_DOT"))
        )
    if machine.computes_with("avx512") and haste.has_functions(jaxpr):
        found["xla_cpu_prefer_vector_width"] = 512
    return found or None


def _compiled(lowered: Any, options: Options | None = None) -> Any:
    """XLA's assembler for GPUs is a program of its own, which now and then fails to start."""
    for _ in range(_ASSEMBLER_ATTEMPTS):
        try:
            return interruptible(lambda: compile_with(lowered, options))
        except Exception as error:
            if "Failed to launch ptxas" not in str(error):
                raise
            time.sleep(0.1)
    return interruptible(lambda: compile_with(lowered, options))


def _precision(jax: Any) -> Any:
    """Inside, products of 32-bit floats are traced with the precision that the flag asks for."""
    wanted = None if flags.TENSOR_FLOAT_32 else "highest"
    return nullcontext() if wanted is None else jax.default_matmul_precision(wanted)


def _switch(jax: Any, unit: Unit, device: Any, sharding: Any) -> Any:
    """By what the loops of a region can be stopped, if it has any and the device lets us."""
    if not has_loops(unit.nodes) or not can_overwrite(device):
        return None
    return jax.ShapeDtypeStruct((SWITCH_SIZE,), np.int32, sharding=sharding)


def _abstract(jax: Any, spec: Any, sharding: Any) -> Any:
    return None if spec is None else jax.ShapeDtypeStruct(*spec, sharding=sharding)


def single_op(definition: OpDef, attrs: dict[str, Any]) -> Callable[..., Sequence[np.ndarray]]:
    """An op that only XLA can express, compiled by itself: `call(xp, inputs) -> NumPy arrays`."""
    names = flat_arg_names(definition, attrs)
    static = [i for i, name in enumerate(names) if name in definition.static]
    programs: dict[Any, Any] = {}

    def call(xp: Any, inputs: Sequence[Any]) -> Sequence[np.ndarray]:
        fixed = {i: np.asarray(inputs[i]) for i in static}
        moving = [None if i in fixed else v for i, v in enumerate(inputs)]
        specs = tuple(None if v is None else (np.shape(v), v.dtype) for v in moving)
        key = tuple((i, v.shape, v.tobytes()) for i, v in fixed.items()), specs
        if key not in programs:
            if len(programs) > 64:
                programs.clear()
            alone = _compiled_between_processes if definition.collective else _compiled_alone
            programs[key] = alone(_one(definition, attrs, fixed), specs)
        return [np.asarray(v) for v in programs[key](moving)]

    return call


def _compiled_alone(run: Callable[..., Any], specs: Sequence[Any]) -> Callable[..., Any]:
    """`run`, a function of a list of arrays, compiled for these shapes and types."""
    jax, largest = load(), Largest(on_host=True)
    with _precision(jax):
        traced = jax.jit(run).trace([_abstract(jax, spec, None) for spec in specs])
    for aval in traced.jaxpr.out_avals:
        if (error := largest.note(None, [aval])) is not None:
            raise error
    if not is_countable(traced.jaxpr):
        raise largest.error()
    on_host = jax.default_backend() == "cpu"
    options = haste.options(traced.jaxpr) if on_host else None
    lowered = traced.lower()
    if on_host:
        keep_nans(lowered.compiler_ir())
    return guarded(_compiled(lowered, options), largest)


def _compiled_between_processes(run: Callable[..., Any], specs: Sequence[Any]) -> Any:
    """`run` compiled for these shapes and types, over all processes of the group."""
    jax, span = load(), processes.ProcessSpan(None)
    args = [_abstract(jax, spec, span.sharding) for spec in specs]
    jitted = jax.jit(span.across(run), keep_unused=True)
    return span.program(_compiled(jitted.lower(args)))


def _one(definition: OpDef, attrs: dict[str, Any], fixed: dict[int, np.ndarray]) -> Any:
    def run(moving: list[Any]) -> Any:
        import jax.numpy as jnp

        inputs = [fixed.get(i, v) for i, v in enumerate(moving)]
        return list(bind(definition, attrs)(jnp, inputs))

    return run


def translate(error: Exception) -> Exception:
    """An XLA run-time error as TensorFlow's class for it."""
    text = str(error)
    for prefix, kind in (
        ("RESOURCE_EXHAUSTED", errors.ResourceExhaustedError),
        ("INVALID_ARGUMENT", errors.InvalidArgumentError),
        ("UNIMPLEMENTED", errors.UnimplementedError),
        ("UNKNOWN", errors.UnknownError),
    ):
        if text.startswith(prefix):
            return kind(None, None, text)
    if isinstance(error, errors.OpError):
        return error
    return errors.InternalError(None, None, text)
