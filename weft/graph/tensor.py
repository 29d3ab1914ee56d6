"""Tensor: one output of an operation. Symbolic: it has a type and what is known of a shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from weft.core.dtypes import DType
from weft.core.errors import OperatorNotAllowedInGraphError
from weft.core.shapes import TensorShape, dims_of
from weft.graph import shape_fn
from weft.graph.conversion_status import not_in_graphs
from weft.graph.shape_fn import Dims

if TYPE_CHECKING:
    from weft.graph.graph import Graph
    from weft.graph.operation import Operation


class Reference:
    """Stands for an object by identity, so that it can be a key whatever its `==` does."""

    __slots__ = ("_object",)

    def __init__(self, referent: Any) -> None:
        self._object = referent

    def deref(self) -> Any:
        return self._object

    def __hash__(self) -> int:
        return id(self._object)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._object is other._object

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._object!r}>"


class Tensor:
    """A symbolic handle to output `value_index` of `op`.

    `dims` is the static shape as plain data; `shape` and `get_shape()` wrap it for users.
    Arithmetic and indexing are installed by the ops layer (`install_operators`).

    Args:
        op: the operation that computes it.
        value_index: which of its outputs.
        dtype: the type of its elements.

    Example:
        >>> x = tf.constant([[1.0, 2.0]])
        >>> x.dtype, x.shape.as_list(), x.op.type
        (tf.float32, [1, 2], 'Const')
        >>> session.run(x[0, 1] + 3)
        np.float32(5.0)
    """

    __slots__ = (
        "__dict__", "__weakref__", "_consumers", "_name", "_shape", "dims", "dtype", "op",
        "value_index",
    )  # fmt: skip

    # NumPy must leave `array + tensor` to Tensor.__radd__.
    __array_priority__ = 100

    # Programs read it to give classes of their own the same operators.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = set()

    # Whether `==` compares values where tensors have them (`tf.enable_tensor_equality`).
    _USE_EQUALITY: ClassVar[bool] = False

    if TYPE_CHECKING:  # installed by weft.ops.operators

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self.dims: Dims = None
        self._consumers: list[Operation] = []
        self._name: str | None = None
        self._shape: TensorShape | None = None

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def name(self) -> str:
        if self._name is None:
            self._name = f"{self.op.name}:{self.value_index}"
        return self._name

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        # One object as long as nothing new is known: partly unknown shapes compare by identity.
        if self._shape is None or self._shape._dims_tuple is not self.dims:
            self._shape = TensorShape.from_dims(self.dims)
        return self._shape

    def get_shape(self) -> TensorShape:
        return self.shape

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.dims is None else list(self.dims)

    def _shape_tuple(self) -> Dims:
        return self.dims

    def _rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    def set_shape(self, shape: Any) -> None:
        """Adds what `shape` says to what is known; ValueError if they contradict."""
        self.dims = shape_fn.merge(self.dims, dims_of(shape))

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, once for every input that it is."""
        return list(self._consumers)

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Runs this tensor in `session` (the default session if None)."""
        return _session_for(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    def experimental_ref(self) -> Reference:
        """A hashable stand-in for this tensor."""
        return Reference(self)

    def _as_node_def_input(self) -> str:
        return self.op.name if self.value_index == 0 else self.name

    def _as_tf_output(self) -> Tensor:
        return self

    @property
    def _id(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[Tensor]:
        raise OperatorNotAllowedInGraphError(not_in_graphs("iterating over `tf.Tensor`"))

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            not_in_graphs("using a `tf.Tensor` as a Python `bool`")
        )

    __nonzero__ = __bool__  # Python 2's name, which libraries copy

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __index__(self) -> int:
        from weft.graph.constant_value import folded_value

        value = folded_value(self)
        if value is not None and value.ndim == 0 and self.dtype.is_integer:
            return int(value)
        raise TypeError(f"'Tensor' object cannot be interpreted as an integer ({self.name})")

    __hash__ = object.__hash__

    def __copy__(self) -> Tensor:
        return self

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def _repr_html_(self) -> str:
        from weft.graph.pictures.cards import tensor_card

        return tensor_card(self)


def _session_for(session: Any, graph: Graph, what: str, verb: str) -> Any:
    from weft.graph import stacks

    which, advice = "given", ""
    if session is None:
        session = stacks.get_default_session()
        which = "default"
        advice = f" Pass an explicit session to `{verb}(session=sess)`."
    if session is None:
        raise ValueError(
            f"Cannot {what} using `{verb}()`: No default session is registered. Use `with"
            f" sess.as_default()` or pass an explicit session to `{verb}(session=sess)`"
        )
    if session.graph is not graph:
        raise ValueError(
            f"Cannot use the {which} session to {what}: the tensor's graph is different from the"
            f" session's graph.{advice}"
        )
    return session
