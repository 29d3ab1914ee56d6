"""Names of `tensorflow.python.framework` and `python.ops`: how a graph is looked at from inside."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterable
from typing import Any

import weft as tf
from weft.graph.graph_def import op_def_proto
from weft.graph.op_def import REGISTRY
from weft.lib.ragged.tensor import RaggedTensor

INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


class _TensorLike(abc.ABC):  # noqa: B024  (a mark: what can stand where tensors do)
    """Tensors, and what consists of them: programs test for it, and derive classes from it."""


class CompositeTensor(abc.ABC):  # noqa: B024
    """What consists of several tensors; programs derive classes from it."""


for _kind in (tf.SparseTensor, tf.IndexedSlices, RaggedTensor):
    _TensorLike.register(_kind)
    CompositeTensor.register(_kind)
_TensorLike.register(tf.Tensor)


class tensor_types:
    """Which classes count as dense tensors."""

    _TensorLike = _TensorLike
    _dense: tuple[type, ...] = (tf.Tensor, tf.Variable)

    @staticmethod
    def is_dense_tensor_like(t: Any) -> bool:
        """Whether `t` is a tensor, a variable, or of a class that a program declared one."""
        return isinstance(t, tensor_types._dense)

    @staticmethod
    def register_dense_tensor_like_type(tensor_type: type) -> None:
        """Declares that objects of a class can be used as dense tensors."""
        for name in ("name", "dtype"):
            if not isinstance(getattr(tensor_type, name, None), property):
                raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
        tensor_types._dense += (tensor_type,)

    @staticmethod
    def _as_graph_element(obj: Any) -> Any:
        """What stands for an object in a graph; None if nothing does."""
        convert = getattr(obj, "_as_graph_element", None)
        return convert() if callable(convert) else None

    @staticmethod
    def convert_to_tensor_or_composite(
        value: Any, dtype: Any = None, name: str | None = None
    ) -> Any:
        """`value` itself when it consists of several tensors; otherwise it is made a tensor."""
        if not isinstance(value, CompositeTensor):
            return tf.convert_to_tensor(value, dtype, name)
        kind: Any = getattr(value, "dtype", None)
        if dtype and not tf.as_dtype(dtype).is_compatible_with(kind):
            raise ValueError(
                f"Tensor conversion requested dtype {tf.as_dtype(dtype).name} for Tensor with"
                f" dtype {kind.name}: {str(value)!r}"
            )
        return value

    @staticmethod
    def numpy_text(tensor: Any, is_repr: bool = False) -> str:
        """The value of an eager tensor as text: several lines begin on one of their own."""
        text = repr(tensor.numpy()) if is_repr else str(tensor.numpy())
        return f"\n{text}" if "\n" in text else text


class op_def_registry:
    """The messages of all operations."""

    @staticmethod
    def get_registered_ops() -> dict[str, Any]:
        """Name -> OpDef."""
        return {name: op_def_proto(definition) for name, definition in REGISTRY.items()}

    @staticmethod
    def register_op_list(op_list: Any) -> None:
        """Operations are declared with their kernels: a list of signatures adds nothing."""


class reachable:
    """What depends on given inputs."""

    @staticmethod
    def get_reachable_from_inputs(inputs: Iterable[Any], targets: Any = None) -> set[Any]:
        """`inputs` and all that is computed from them, until all of `targets` were met."""
        found = set(inputs)
        waiting = list(found)
        missing = set(targets) if targets else None
        while waiting and missing != set():
            one = waiting.pop()
            for after in _dependents(one):
                if after not in found:
                    found.add(after)
                    waiting.append(after)
            if missing is not None:
                missing -= found
        return found


def _dependents(one: Any) -> list[Any]:
    if isinstance(one, tf.Operation):
        return [*one.outputs, *one._control_outputs]
    if isinstance(one, tf.Variable):
        handle = getattr(one, "handle", None)
        return [one.op] if handle is None else [handle, *handle.consumers()]
    if isinstance(one, tf.Tensor):
        return list(one.consumers())
    raise TypeError(
        f"Expected tf.Operation, tf.Variable, or tf.Tensor but got type: {type(one).__name__}"
    )


class control_flow_util:
    """Conditions and loops, by their nodes."""

    ENABLE_CONTROL_FLOW_V2 = False

    @staticmethod
    def GetContainingXLAContext(ctxt: Any) -> None:
        """None: what XLA compiles is not a context of the graph."""

    @staticmethod
    def GraphOrParentsInXlaContext(graph: Any) -> bool:
        """Whether a graph is being made inside a context of XLA's."""
        return False

    InXlaContext = IsInXLAContext = GraphOrParentsInXlaContext

    @staticmethod
    def EnableControlFlowV2(graph: Any) -> bool:
        """Whether new conditions and loops are functions, as they are inside one."""
        return getattr(graph, "building_function", False)

    @staticmethod
    def IsSwitch(op: Any) -> bool:
        return op.type in ("Switch", "RefSwitch")

    @staticmethod
    def IsMerge(op: Any) -> bool:
        return op.type in ("Merge", "RefMerge")

    @staticmethod
    def IsLoopEnter(op: Any) -> bool:
        return op.type in ("Enter", "RefEnter")

    @staticmethod
    def IsLoopExit(op: Any) -> bool:
        return op.type in ("Exit", "RefExit")


class resources:
    """Resources other than variables, and how they are made."""

    @staticmethod
    def shared_resources() -> list[Any]:
        return tf.get_collection(tf.GraphKeys.RESOURCES)

    @staticmethod
    def local_resources() -> list[Any]:
        return tf.get_collection(tf.GraphKeys.LOCAL_RESOURCES)


def pure_variable_scope(
    name_or_scope: Any, reuse: Any = None, initializer: Any = None, regularizer: Any = None,
    caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
    old_name_scope: Any = None, dtype: Any = tf.float32, use_resource: Any = None,
    constraint: Any = None,
) -> Any:  # fmt: skip
    """A variable scope that opens no name scope."""
    return tf.variable_scope(
        name_or_scope, initializer=initializer, regularizer=regularizer, dtype=dtype,
        caching_device=caching_device, partitioner=partitioner, custom_getter=custom_getter,
        reuse=reuse, use_resource=use_resource, constraint=constraint, auxiliary_name_scope=False,
    )  # fmt: skip


def aggregate_variable(variable: Any, collections: Any) -> Any:
    """The value of a metric's variable over all replicas."""
    from weft.ops.kit.replicas import across_replicas

    value = across_replicas(tf.identity, variable)
    if collections:
        tf.add_to_collections(collections, value)
    return value


def safe_scalar_div(numerator: Any, denominator: Any, name: str) -> Any:
    """A quotient of scalars or vectors, 0 where nothing is divided by."""
    for each in (numerator, denominator):
        each.get_shape().with_rank_at_most(1)
    return tf.div_no_nan(numerator, denominator, name=name)


def variable(
    initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
    validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
    dtype: Any = None, use_resource: bool | None = None, constraint: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE, shape: Any = None,
) -> Any:  # fmt: skip
    """A variable, made as `tf.Variable` makes it."""
    return tf.Variable(
        initial_value, trainable=trainable, collections=collections, dtype=dtype, name=name,
        validate_shape=validate_shape, caching_device=caching_device, constraint=constraint,
        use_resource=use_resource, synchronization=synchronization, aggregation=aggregation,
        shape=shape,
    )  # fmt: skip
