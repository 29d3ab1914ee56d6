"""Programs of one operation each: from its signature, or from a sample with something changed."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from tests.fuzz import values
from tests.fuzz.known import is_left_out
from tests.ops.sample import Sample, Uninitialized, all_samples
from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.op_def import REGISTRY, OpDef
from weft.runtime.xla import region

GRAPH = """\
import numpy as np, weft as tf
from tensorboard.compat.proto.config_pb2 import ConfigProto
from weft.runtime.xla import region
region.CALL_COST, region.BUFFER_COST = {costs}  # 0: the smallest program is compiled, too
config = ConfigProto(operation_timeout_in_ms={patience})
with tf.Graph().as_default(), tf.Session(config=config) as session:
    feeds = {{}}
    def fed(value, dtype):
        tensor = tf.placeholder(dtype); feeds[tensor] = value; return tensor
    made = tf.raw_ops.{op}({arguments})
    op = tf.get_default_graph().get_operations()[-1]
    wanted = [t for t in op.outputs if t.dtype.base_dtype not in (tf.resource, tf.variant)]
    refusals = []
    for _ in range(2):  # interpreted, then compiled
        try: session.run(wanted or op, feeds)
        except tf.errors.InternalError: raise
        except tf.errors.OpError as error: refusals.append(error)
    passing = tf.errors.DeadlineExceededError, tf.errors.ResourceExhaustedError
    if {repeatable} and len(refusals) == 1 and not isinstance(refusals[0], passing):
        raise AssertionError(f"refused in one of two equal steps: {{refusals[0]}}")
    if refusals: raise refusals[-1]
"""
EAGER = """\
import numpy as np, weft as tf
tf.enable_eager_execution()
def fed(value, dtype): return tf.convert_to_tensor(value, dtype)
tf.raw_ops.{op}({arguments})
"""
HANDLES = (
    "tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])",
    "tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])",
    "tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)",
    "tf.raw_ops.StackV2(max_size=2, elem_type=tf.float32)",
    "tf.raw_ops.TensorArrayV3(size=2, dtype=tf.float32)[0]",
    "tf.raw_ops.IteratorV2(shared_name='', container='', output_types=[tf.float32],"
    " output_shapes=[[]])",
    "fed(np.array(3), tf.resource)",
)
VARIANTS = (
    "tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=tf.float32)",
    "tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32)",
    "tf.raw_ops.TensorDataset(components=[np.float32([1, 2])], output_shapes=[[2]])",
    "tf.raw_ops.RangeDataset(start=np.int64(0), stop=np.int64(3), step=np.int64(1),"
    " output_types=[tf.int64], output_shapes=[[]])",
    "fed(np.array(3), tf.variant)",
)


def program(rng: random.Random) -> str:
    """One operation in a session, run twice so that it is compiled, or eagerly."""
    op, arguments = (_from_sample if rng.random() < 0.5 else _from_signature)(rng)
    text = ",\n        ".join(f"{name}={value}" for name, value in arguments.items())
    is_blocking = REGISTRY[op].blocking
    is_eager = rng.random() < 0.4 and not is_blocking
    patience = 300 if is_blocking else 4000  # milliseconds: most of those that wait do so in vain
    return (EAGER if is_eager else GRAPH).format(
        op=op, arguments=text, patience=patience, costs=rng.choice(_COSTS),
        repeatable=_is_repeatable(REGISTRY[op], text),
    )  # fmt: skip


def _is_repeatable(definition: OpDef, arguments: str) -> bool:
    """Whether a second step must end as the first: nothing is kept from it or drawn."""
    keeps = definition.stateful or definition.takes_rng or definition.calls_python
    return not (keeps or definition.blocking or any(k in arguments for k in _KEEPING))


_COSTS = (0.0, 0.0), (region.CALL_COST, region.BUFFER_COST)
# What arguments are made of that lives longer than a step.
_KEEPING = ("VariableV2", "VarHandleOp", "HandleOp", "QueueV2", "TableV2", "IteratorV2")


# ---- from a signature --------------------------------------------------------------------------


@functools.cache
def _operations() -> list[str]:
    return sorted(
        name
        for name, definition in REGISTRY.items()
        if definition.kernel is not None and not definition.transfer and not is_left_out(name)
    )


def _from_signature(rng: random.Random) -> tuple[str, dict[str, str]]:
    definition = REGISTRY[rng.choice(_operations())]
    types = {a.name: _type(rng, a.allowed) for a in definition.attrs.values() if a.kind == "type"}
    dims = values.shape(rng)
    arguments = {
        arg.name: _argument(rng, arg, types, dims if rng.random() < 0.5 else None)
        for arg in definition.input_args
    }
    for name in definition.params[len(definition.input_args) :]:
        attr = definition.attrs[name]
        if name in types:
            arguments[name] = f"tf.{types[name].name}"
        elif not attr.has_default or rng.random() < 0.5:
            arguments[name] = values.attribute(rng, attr.kind, attr.allowed, attr.minimum)
    return definition.name, arguments


def _type(rng: random.Random, allowed: Any) -> DType:
    return rng.choice([d for d in allowed or values.COMMON if d in values.COMMON] or list(allowed))


def _argument(rng: random.Random, arg: Any, types: dict[str, DType], dims: Any) -> str:
    dtype = arg.type or types.get(arg.type_attr or "") or rng.choice(values.COMMON)
    if not arg.is_list:
        return _tensor(rng, dtype, arg.is_ref, dims)
    many = [_tensor(rng, dtype, arg.is_ref, dims) for _ in range(rng.choice((0, 1, 2, 2, 3)))]
    return f"[{', '.join(many)}]"


def _tensor(rng: random.Random, dtype: DType, is_ref: bool, dims: Any) -> str:
    if dtype is dtypes.resource:
        return rng.choice(HANDLES)
    if dtype is dtypes.variant:
        return rng.choice(VARIANTS)
    if is_ref:
        kind = dtype.base_dtype.name
        return f"tf.raw_ops.VariableV2(shape={dims or (2,)}, dtype=tf.{kind})"
    return _given(rng, values.array(rng, dtype, dims), dtype)


def _given(rng: random.Random, value: str, dtype: DType) -> str:
    """As a constant, or as something that is known only in a step."""
    if rng.random() < 0.7:
        return f"fed({value}, tf.{dtype.name})"
    return f"tf.constant({value}, tf.{dtype.name})"


# ---- from a sample -----------------------------------------------------------------------------


def _usable(sample: Sample) -> bool:
    if sample.op not in REGISTRY or is_left_out(sample.op):
        return False
    flat = sample.flat_inputs
    return all(isinstance(v, Uninitialized) or np.size(v) <= 64 for v in flat)


def _from_sample(rng: random.Random) -> tuple[str, dict[str, str]]:
    sample = rng.choice(all_samples())
    if not _usable(sample):
        return _from_signature(rng)
    definition = REGISTRY[sample.op]
    pairs = list(zip(definition.input_args, sample.inputs, strict=True))
    changed = {rng.randrange(len(pairs) + 1) for _ in range(rng.choice((1, 1, 2)))}
    arguments = {
        arg.name: _sampled(rng, arg, value, i in changed) for i, (arg, value) in enumerate(pairs)
    }
    return sample.op, arguments | _sampled_attrs(rng, definition, sample, len(pairs) in changed)


def _sampled_attrs(
    rng: random.Random, definition: OpDef, sample: Sample, is_changed: bool
) -> dict[str, str]:
    own = {k: v for k, v in sample.attrs.items() if k not in definition.inferred_attrs or not v}
    found = {name: _attr_text(value) for name, value in own.items()}
    others = [name for name in definition.params[len(definition.input_args) :]]
    if is_changed and others:
        attr = definition.attrs[rng.choice(others)]
        found[attr.name] = values.attribute(rng, attr.kind, attr.allowed)
    return found


def _attr_text(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return values.literal(value)
    return repr(value)


def _sampled(rng: random.Random, arg: Any, value: Any, is_changed: bool) -> str:
    if isinstance(value, list):
        at = rng.randrange(len(value) + 1) if is_changed else -1
        return f"[{', '.join(_sampled(rng, arg, v, i == at) for i, v in enumerate(value))}]"
    if arg.is_ref or arg.type is dtypes.resource:
        return _variable(rng, arg, value)
    dtype = dtypes.as_dtype("string" if value.dtype == object else value.dtype)
    text = values.array(rng, *_changed(rng, dtype, value)) if is_changed else values.literal(value)
    return _given(rng, text, dtype)


def _changed(rng: random.Random, dtype: DType, value: Any) -> tuple[DType, tuple[int, ...]]:
    """Another shape, or the same with other values."""
    dims = list(value.shape)
    if dims and rng.random() < 0.3:
        dims[rng.randrange(len(dims))] = rng.choice(values.SIZES)
    elif rng.random() < 0.4:
        return dtype, values.shape(rng)
    return dtype, tuple(dims)


def _variable(rng: random.Random, arg: Any, value: Any) -> str:
    dtype = dtypes.as_dtype(value.dtype if value.dtype != object else "string").name
    kind = "VariableV2" if arg.is_ref else "VarHandleOp"
    if not arg.is_ref and rng.random() < 0.2:
        return rng.choice(HANDLES)
    return f"tf.raw_ops.{kind}(shape={tuple(value.shape)}, dtype=tf.{dtype})"
