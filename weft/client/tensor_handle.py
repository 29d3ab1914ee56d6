"""TensorHandle: what a step gives for `tf.get_session_handle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.core.compat import as_str_any
from weft.core.dtypes import DType
from weft.graph.tensor import Tensor

if TYPE_CHECKING:
    from weft.client.session import BaseSession

# Operations whose result the user gets as a TensorHandle.
MAKE_HANDLES = frozenset({"GetSessionHandle", "GetSessionHandleV2"})


class TensorHandle:
    """Stands for a tensor that a session keeps; the tensor goes when the last handle does.

    It can be fed in place of a value.
    """

    def __init__(self, handle: Any, dtype: DType, session: BaseSession) -> None:
        self._handle = as_str_any(handle)
        self._dtype, self._session = dtype, session
        self._owned = True

    def __del__(self) -> None:
        if self._owned:
            self._session._runner.forget(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The name of the tensor, to feed to a placeholder of `tf.get_session_tensor`."""
        return self._handle

    def _check_owned(self) -> None:
        if not self._owned:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def eval(self) -> Any:
        """The value of the tensor."""
        self._check_owned()
        return self._session._runner.kept(self._handle, self._dtype)

    def delete(self) -> None:
        """Forgets the tensor now."""
        self._check_owned()
        self._owned = False
        self._session._runner.forget(self._handle)

    def get_raw_handle(self) -> str:
        """The name; from now on the tensor stays until `tf.delete_session_tensor`."""
        self._owned = False
        return self._handle


def handle_positions(tensors: list[Tensor]) -> tuple[int, ...]:
    """The positions of the fetched tensors that come as handles."""
    return tuple(i for i, t in enumerate(tensors) if t.op.type in MAKE_HANDLES)


def with_handles(
    session: BaseSession, tensors: list[Tensor], positions: tuple[int, ...], values: list[Any]
) -> list[Any]:
    """`values`, with handles in place of their names."""
    for i in positions:
        values[i] = TensorHandle(values[i], tensors[i].op.inputs[0].dtype, session)
    return values
