"""Operations that round values as quantized ones are, put after weights and results of layers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.framework.graph_names import get_name_scope
from weft.lib.contrib.quantize import common, quant_ops, quantize_layers
from weft.lib.contrib.quantize.quantize_layers import LayerMatch
from weft.lib.platform import tf_logging as logging
from weft.ops.control.cond import cond

_ROUNDING = (
    "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel",
)  # fmt: skip
_COMBINING = ("Add", "AddV2", "Mul")
_PASSING = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")
_RECTIFYING = ("Relu", "Relu6")


def Quantize(
    graph: Any,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Rounds weights and results of the layers of a graph, and sums and products of these."""
    if scope and not scope.endswith("/"):
        scope += "/"
    shared: dict[str, Any] = {
        "is_training": is_training,
        "ema_decay": ema_decay,
        "quant_delay": quant_delay,
        "vars_collection": vars_collection,
    }
    users = common.InputToOps(graph)
    done: set[Operation] = set()
    for match in quantize_layers.find(graph):
        for row in _rows(match, users, scope):
            bits = weight_bits if row["name"] == "weights_quant" else activation_bits
            _InsertQuantOp(**row, bits=bits, symmetric=symmetric, **shared)
            if row["name"] != "weights_quant":
                done.add(row["producer"])
    _quantize_sums(graph, done, {"bits": activation_bits, "producer_scope": scope, **shared})


def _rows(match: LayerMatch, users: common.InputToOps, scope: str | None) -> list[dict[str, Any]]:
    """The places of one layer that are rounded, in order."""
    context = common.context_of(match.layer_op.name)
    # A layer with a bypass is one scope deeper than what it is summed with.
    around = common.context_of(context) if match.bypass_op is not None else context
    rows: list[dict[str, Any]] = []

    def row(context: str, name: str, producer: Operation, **options: Any) -> None:
        place = {"context": context, "name": name, "producer": producer}
        rows.append({**place, "consumers": users.ConsumerOperations(producer), **options})

    both = {"producer_scope": scope, "consumer_scope": scope}
    if match.weight_tensor is not None:
        row(context, "weights_quant", match.weight_tensor.op, moving_avg=False, narrow_range=True,
            consumer_scope=scope)  # fmt: skip
    if match.activation_op is not None:
        row(around, "act_quant", match.activation_op, init_min=0.0, producer_scope=scope)
    if match.bypass_op is not None:
        row(context, "conv_quant", match.bias_add_op, **both)  # type: ignore[arg-type]
        if not _is_fused(match.bypass_op, users, (*_RECTIFYING, "Identity")):
            row(around, "add_quant", match.bypass_op, **both)
    late = match.post_activation_bypass_op
    if late is not None and not _is_fused(late, users, _RECTIFYING):
        name = "post_activation_bypass_quant"
        row(common.context_of(late.name), name, late, producer_scope=scope)
    return rows


def _is_fused(op: Operation, users: common.InputToOps, activations: Collection[str]) -> bool:
    """Whether an activation follows, which becomes one with the sum when the model is served."""
    found = any(user.type in activations for user in users.ConsumerOperations(op))
    if found:
        logging.info("Skipping %s, because its followed by an activation.", op.name)
    return found


def _quantize_sums(graph: Any, done: set[Operation], options: dict[str, Any]) -> None:
    """Rounds sums and products of what is rounded already."""
    users = common.InputToOps(graph)
    for op in graph.get_operations():
        if _is_rounded_sum(op, done):
            name = f"activation_{op.type}_quant"
            logging.info("Inserting fake quant op %s after %s", name, op.name)
            _InsertQuantOp(op.name, name, op, users.ConsumerOperations(op), **options)


def _is_rounded_sum(op: Operation, done: set[Operation]) -> bool:
    if op in done or op.type not in _COMBINING:
        return False
    takers = op.outputs[0].consumers()
    if len(takers) == 1 and takers[0].type in _RECTIFYING:
        logging.info("Skipping quant after %s", op.name)
        return False
    return any(_is_rounded(tensor.op, done) for tensor in op.inputs)


def _is_rounded(op: Operation, done: set[Operation]) -> bool:
    """Whether values come from a rounding operation, past operations that only pass them on."""
    while op.type in _PASSING:
        op = op.inputs[0].op
    if op.type == "FakeQuantWithMinMaxVars" or op.name.find("delayed_quant/Merge") > 0:
        return True
    return op.type in _COMBINING and any(_is_rounded_sum(each.op, done) for each in op.inputs)


def _is_followed_by_rounding(tensor: Tensor) -> bool:
    takers = list(tensor.consumers())
    while takers:
        op = takers.pop()
        if op.type in _ROUNDING:
            return True
        if op.type in ("Reshape", "Identity"):
            takers += [taker for output in op.outputs for taker in output.consumers()]
    return False


def _is_outside(
    context: str, name: str, producer: Operation, consumers: Any, scopes: tuple[Any, Any]
) -> bool:
    """Whether an operation is not in the scope that is asked for; says which one."""
    of_producer, of_consumers = scopes
    if of_producer and not producer.name.startswith(of_producer):
        said = 'ignores context="%s" name="%s" because producer "%s" is not in scope "%s"'
        logging.info("_InsertQuantOp " + said, context, name, producer.name, of_producer)
        return True
    for consumer in consumers if of_consumers else ():
        if not consumer.name.startswith(of_consumers):
            said = 'context="%s" name="%s" ignores consumer "%s" because it is not in scope "%s"'
            logging.info("_InsertQuantOp " + said, context, name, consumer.name, of_consumers)
            return True
    return False


def _InsertQuantOp(
    context: str,
    name: str,
    producer: Operation,
    consumers: Collection[Operation],
    is_training: bool,
    moving_avg: bool = True,
    init_min: float = -6.0,
    init_max: float = 6.0,
    bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = GraphKeys.GLOBAL_VARIABLES,
    narrow_range: bool = False,
    producer_scope: str | None = None,
    consumer_scope: str | None = None,
) -> None:
    """Makes consumers take what a producer gives in rounded form."""
    if _is_outside(context, name, producer, consumers, (producer_scope, consumer_scope)):
        return
    prefix = f"{context}/{name}" if context else name
    if open_scope := get_name_scope():
        prefix = prefix.removeprefix(open_scope + "/")
    values = producer.outputs[0]
    # Layers that share a sum meet here twice.
    if _is_followed_by_rounding(values):
        return
    options: dict[str, Any] = {
        "init_min": init_min,
        "init_max": init_max,
        "is_training": is_training,
        "num_bits": bits,
        "symmetric": symmetric,
        "narrow_range": narrow_range,
        "vars_collection": vars_collection,
        "name_prefix": prefix,
    }
    if moving_avg:
        rounded = quant_ops.MovingAvgQuantize(values, ema_decay=ema_decay, **options)
    else:
        rounded = quant_ops.LastValueQuantize(values, **options)
    _take(_delayed(rounded, values, quant_delay, prefix), values, consumers)


def _delayed(rounded: Tensor, values: Tensor, delay: int | None, prefix: str) -> Tensor:
    """The rounded values from a step on, and the values themselves before it."""
    if not delay or delay < 0:
        return rounded
    step = common.CreateOrGetQuantizationStep()
    is_active = raw.GreaterEqual(step, delay, name=f"{prefix}/activate_quant")
    return cond(is_active, lambda: rounded, lambda: values, name=f"{prefix}/delayed_quant")


def _take(rounded: Tensor, values: Tensor, consumers: Collection[Operation]) -> None:
    # A consumer may take the values more than once.
    if common.RerouteTensor(rounded, values, can_modify=consumers) < len(consumers):
        names = ", ".join(consumer.name for consumer in consumers)
        raise ValueError(f"No inputs quantized for ops: [{names}]")
