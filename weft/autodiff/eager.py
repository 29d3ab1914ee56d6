"""The gradient of `tf.py_function`: a Python function again, which goes back over what was done."""

from __future__ import annotations

from typing import Any

from weft.autodiff.gradients import derivatives, is_trainable
from weft.autodiff.registration import RegisterGradient
from weft.graph.convert import convert_to_tensor
from weft.graph.operation import Operation
from weft.ops.array.fill import zeros_like
from weft.ops.functions.py_func import Call, PyFunction, function_of, py_function


@RegisterGradient("EagerPyFunc")
def _eager_py_func_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The call is known by its inputs. One that is no longer kept is made again.

    The results are inputs, too, so that the call comes first.
    """
    holder = function_of(op.attrs["token"])
    holder.recorded = True
    weighed = [i for i, grad in enumerate(grads) if grad is not None]
    wanted = [i for i, tensor in enumerate(op.inputs) if is_trainable(tensor.dtype)]
    count, results = len(op.inputs), len(op.outputs)

    def back(*args: Any) -> list[Any]:
        call = _call(holder, op, args[:count])
        with call.graph.as_default():
            weights = [convert_to_tensor(g.numpy()) for g in args[count + results :]]
            sources = [call.inputs[i] for i in wanted]
            found = derivatives([call.outputs[i] for i in weighed], sources, grad_ys=weights)
            dense: list[Any] = [
                zeros_like(x) if g is None else convert_to_tensor(g)
                for g, x in zip(found, sources, strict=True)
            ]
        return [tensor.numpy() for tensor in dense]

    types = [op.inputs[i].dtype.base_dtype for i in wanted]
    made = py_function(back, [*op.inputs, *op.outputs, *(grads[i] for i in weighed)], types)
    found = dict(zip(wanted, made if wanted else [], strict=True))
    return [found.get(i) for i in range(count)]


def _call(holder: PyFunction, op: Operation, inputs: Any) -> Call:
    values = [tensor._array() for tensor in inputs]
    kept = holder.recorded_call(values)
    if kept is not None:
        return kept
    graph: Any = inputs[0].graph
    return holder.call(graph.context_of(op), values, op.attrs["Tout"])
