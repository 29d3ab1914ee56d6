"""Where an operation can stand in a program: `SETTINGS[name](node)` puts a sample there.

Each gives the outputs as tensors. What the sample is given comes from `node.input(i)`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.sample import Sample, dtype_name, is_arg
from weft.core import dtypes, flags
from weft.graph.op_def import REGISTRY
from weft.runtime.xla import compile, haste, region
from weft.runtime.xla.options import compile_with

Tensors = Sequence[Any]


# A graph is refused in which these have inputs of unknown shape.
NEED_SHAPES = {"BatchToSpaceND", "ParallelConcat", "SpaceToBatchND"}


class Placed:
    """A sample on its way into a graph; `knows`: static shapes, and the values of arguments."""

    def __init__(self, sample: Sample, outputs: Sequence[np.ndarray], knows: bool) -> None:
        self.sample, self.knows = sample, knows or sample.op in NEED_SHAPES
        self.definition = REGISTRY[sample.op]
        self.values = [np.asarray(value) for value in sample.flat_inputs]
        self.blank = [_blank(value) for value in outputs]
        self.feeds: dict[Any, np.ndarray] = {}

    def fed(self, value: np.ndarray, knows: bool | None = None) -> Any:
        known = self.knows if knows is None else knows
        made = tf.placeholder(dtype_name(value), value.shape if known else None)
        self.feeds[made] = value
        return made

    def is_constant(self, i: int) -> bool:
        """Whether an input is an argument, as a shape or an axis, that programs spell out."""
        return self.knows and is_arg(dtype_name(self.values[i])) and i > 0

    def inputs(self, make: Callable[[np.ndarray], Any]) -> list[Any]:
        """All inputs by `make`, but for arguments that are constants."""
        return [
            tf.constant(value, dtype_name(value)) if self.is_constant(i) else make(value)
            for i, value in enumerate(self.values)
        ]

    def outputs(self, tensors: Tensors) -> list[Any]:
        """The outputs of the operation on these."""
        inferred, left = self.definition.inferred_attrs, iter(tensors)
        attrs = self.sample.attrs
        given = {name: v for name, v in attrs.items() if name not in inferred or not v}
        for arg, value in zip(self.definition.input_args, self.sample.inputs, strict=True):
            many = isinstance(value, list)
            given[arg.name] = [next(left) for _ in value] if many else next(left)
        self.definition(**given)
        made = reversed(tf.get_default_graph().get_operations())
        return list(next(op for op in made if op.type == self.sample.op).outputs)

    def blanks(self) -> list[Any]:
        """What stands for outputs that were not computed."""
        return [self.fed(value) for value in self.blank]


def _blank(value: np.ndarray) -> np.ndarray:
    return np.full(value.shape, b"", object) if value.dtype == object else np.zeros_like(value)


def alone(node: Placed) -> Tensors:
    return node.outputs(node.inputs(node.fed))


def on_a_constant(node: Placed) -> Tensors:
    first, *others = node.inputs(node.fed)
    value = node.values[0]
    node.feeds.pop(first, None)
    return node.outputs([tf.constant(value, dtype_name(value)), *others])


def on_variables(node: Placed) -> Tensors:
    def variable(value: np.ndarray) -> Any:
        initial = tf.constant(value, dtype_name(value))
        return tf.Variable(initial, trainable=False, validate_shape=node.knows)

    return node.outputs(node.inputs(variable))


def in_a_loop(node: Placed) -> Tensors:
    """The second of two iterations computes it from the loop's variables."""
    inputs = node.inputs(node.fed)
    constant = [node.is_constant(i) for i in range(len(inputs))]
    turning = [tensor for tensor, fixed in zip(inputs, constant, strict=True) if not fixed]
    count = len(turning)

    def body(i: Any, *state: Any) -> list[Any]:
        turned = iter(state[:count])
        given = [x if c else next(turned) for x, c in zip(inputs, constant, strict=True)]
        return [i + 1, *state[:count], *node.outputs(given)]

    start = [tf.constant(0), *turning, *node.blanks()]
    shapes = [tf.TensorShape([]), *(x.shape for x in start[1 : count + 1])]
    shapes += [tf.TensorShape(None)] * len(node.blank)
    final = tf.while_loop(lambda i, *state: i < 2, body, start, shape_invariants=shapes)
    return list(final)[count + 1 :]


def in_a_branch(node: Placed) -> Tensors:
    inputs, chosen = node.inputs(node.fed), node.fed(np.array(True), True)
    other = node.blanks()
    found = tf.cond(chosen, lambda: node.outputs(inputs), lambda: list(map(tf.identity, other)))
    return found if isinstance(found, (list, tuple)) else [found]


def in_a_function(node: Placed) -> Tensors:
    inputs = node.inputs(node.fed)
    kinds = [x.dtype.base_dtype for x in inputs]
    function = tf.function(lambda *given: node.outputs(given), autograph=False)
    specs = [tf.TensorSpec(x.shape, kind) for x, kind in zip(inputs, kinds, strict=True)]
    return function.get_concrete_function(*specs)(*inputs) if specs else function()


def after_python(node: Placed) -> Tensors:
    def handed_on(value: np.ndarray) -> Any:
        fed = node.fed(value)
        made = tf.py_func(lambda x: x, [fed], fed.dtype)
        if node.knows:
            made.set_shape(value.shape)
        return made

    return node.outputs(node.inputs(handed_on))


def on_another_device(node: Placed) -> Tensors:
    inputs = node.inputs(node.fed)
    with tf.device("/cpu:1"):
        return node.outputs(inputs)


SETTINGS: dict[str, Callable[[Placed], Tensors]] = {
    "alone": alone,
    "on a constant": on_a_constant,
    "on variables": on_variables,
    "in a loop": in_a_loop,
    "in a branch": in_a_branch,
    "in a function": in_a_function,
    "after Python": after_python,
    "on another device": on_another_device,
}


@contextlib.contextmanager
def all_compiled() -> Iterator[list[str]]:
    """On their second run steps are programs, however small; gives what could not be compiled."""
    refused: list[str] = []
    run_hot = region.Region._run_hot

    def noted(self: Any, entry: Any, values: Any) -> None:
        run_hot(self, entry, values)
        if self.cannot_compile is not None:
            refused.append(str(self.cannot_compile))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "CALL_COST", -1e9)
        patch.setattr(region.Region, "_run_hot", noted)
        patch.setattr(compile, "_compiled", lambda low, _=None: compile_with(low, haste.AT_ONCE))
        yield refused


def run(samples: dict[Sample, Sequence[np.ndarray]], setting: str, knows: bool) -> list[list[Any]]:
    """What samples, given with what they should give, give in a setting: by run, by sample.

    They run in one step: interpreted, compiled, and once more. What cannot be compiled leaves the
    program, which is then made anew.
    """
    config = tf.ConfigProto(device_count={"CPU": 2})
    graph, results, quiet = tf.Graph(), [], 0
    with all_compiled() as refused, graph.as_default(), tf.Session(config=config) as session:
        nodes = [Placed(sample, wanted, knows) for sample, wanted in samples.items()]
        fetches = [list(SETTINGS[setting](node)) for node in nodes]
        feeds = {tensor: value for node in nodes for tensor, value in node.feeds.items()}
        session.run(tf.global_variables_initializer())
        while quiet < 2 or len(results) < 3:
            before = len(refused)
            found = session.run(fetches, feeds)
            results.append([as_arrays(*pair) for pair in zip(fetches, found, strict=True)])
            quiet = quiet + 1 if len(refused) == before else 0
    return results


def run_interpreted(sample: Sample) -> list[np.ndarray]:
    """What NumPy makes of a sample, node by node."""
    with flags.XLA.override(False), tf.Graph().as_default(), tf.Session() as session:
        node = Placed(sample, [], True)
        outputs = alone(node)
        return as_arrays(outputs, session.run(list(outputs), node.feeds))


def as_arrays(tensors: Tensors, values: Sequence[Any]) -> list[np.ndarray]:
    """What was fetched, as arrays: of strings in the form that samples have them."""
    pairs = zip(tensors, values, strict=True)
    return [np.asarray(v, object if y.dtype == dtypes.string else None) for y, v in pairs]
