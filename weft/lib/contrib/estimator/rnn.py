"""Estimators with a recurrent network over sequence columns: RNNClassifier and RNNEstimator."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.feature_column import concatenate_context_input, sequence_input_layer
from weft.lib.estimator.canned.dnn import INPUT_SLICE_BYTES, LEARNING_RATE, check_features
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.canned.with_head import OfHead
from weft.lib.estimator.extenders import clip_gradients_by_norm
from weft.lib.estimator.heads.canned import classification_head
from weft.lib.estimator.heads.sequential import SequentialHead
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.feature_column.input_layer import input_layer
from weft.lib.layers.core import dense
from weft.lib.rnn.basic_cells import BasicLSTMCell, BasicRNNCell, GRUCell
from weft.lib.rnn.cells import RNNCell
from weft.lib.rnn.dynamic import dynamic_rnn
from weft.lib.rnn.wrappers import MultiRNNCell
from weft.lib.summary import summary
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import sequence_mask
from weft.ops.math import math
from weft.ops.scores.losses import Reduction
from weft.ops.state.global_step import get_global_step
from weft.ops.state.initializers import glorot_uniform_initializer
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.variable_scope import variable_scope

CLIP_NORM = 5.0
CELLS = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}
# Not a cell type: tells that none was given.
USE_DEFAULT: Any = object()

CellFn = Callable[[Any], RNNCell]


# ---- the network -------------------------------------------------------------------------------


def cell_fn_of(rnn_cell_fn: CellFn | None, num_units: Any, cell_type: Any) -> CellFn:
    """A function that makes the cell: the program's own, or one for layers of these sizes."""
    if rnn_cell_fn is None:
        kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
        return lambda mode: _stacked([_cell(size, kind) for size in num_units])
    if num_units or cell_type is not USE_DEFAULT:
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    return rnn_cell_fn


def _cell(size: int, cell_type: Any) -> RNNCell:
    kind = CELLS.get(cell_type, cell_type)
    if not (isinstance(kind, type) and issubclass(kind, RNNCell)):
        raise ValueError(f"Supported cell types are {list(CELLS)}; got {kind}")
    return kind(num_units=size)  # type: ignore[call-arg]


def _stacked(cells: list[RNNCell]) -> RNNCell:
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def last_steps(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The output of each example at the last of its steps."""
    with name_scope("select_last_activations", values=[outputs, lengths]):
        batch, steps, width = (array.shape(outputs)[i] for i in range(3))
        before = math.cast(math.range(batch) * steps, dtypes.int64)
        rows = array.reshape(outputs, [batch * steps, width])
        last = gather(rows, before + lengths - 1)
        last.set_shape([outputs.shape[0], outputs.shape[2]])
        return last


def rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: CellFn,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """A function from features to logits and to the mask of steps that examples have."""
    if not isinstance(output_units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(output_units)}")

    def read(features: dict[str, Any]) -> tuple[Tensor, Tensor]:
        scope, given = "sequence_input_layer", tuple(features.values())
        with variable_scope(scope, values=given, partitioner=input_layer_partitioner):
            steps, lengths = sequence_input_layer(features, sequence_feature_columns)
            summary.histogram("sequence_length", lengths)
            if not context_feature_columns:
                return steps, lengths
            context = input_layer(features, context_feature_columns)
            return concatenate_context_input(context, steps), lengths

    def run(cell: RNNCell, steps: Tensor, lengths: Tensor) -> Tensor:
        outputs, _ = dynamic_rnn(cell, steps, lengths, dtype=dtypes.float32)
        return outputs if return_sequences else last_steps(outputs, lengths)

    def project(net: Tensor) -> Tensor:
        with variable_scope("logits", values=(net,)):
            return dense(net, output_units, kernel_initializer=glorot_uniform_initializer())

    def rnn_logit_fn(features: dict[str, Any], mode: Any) -> tuple[Tensor, Tensor]:
        steps, lengths = read(features)
        return project(run(rnn_cell_fn(mode), steps, lengths)), sequence_mask(lengths)

    return rnn_logit_fn


# ---- the estimators ----------------------------------------------------------------------------


def _trainer(optimizer: Any) -> Optimizer:
    """An optimizer as given; one that is made here clips its gradients."""
    if isinstance(optimizer, Optimizer):
        return optimizer
    made = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)
    return clip_gradients_by_norm(made, CLIP_NORM)


def model_fn_of(
    head: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    num_units: Any,
    cell_type: Any,
    rnn_cell_fn: CellFn | None,
    optimizer: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., EstimatorSpec]:
    """The model function of a recurrent network."""
    cell_fn = cell_fn_of(rnn_cell_fn, num_units, cell_type)
    if return_sequences and not isinstance(head, SequentialHead):
        raise ValueError(
            "Provided head must be a `_SequentialHead` object when `return_sequences` is set to "
            "True."
        )

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        check_features(features)
        trainer = _trainer(optimizer)
        servers = config.num_ps_replicas if config else 0
        cut = min_max_variable_partitioner(max_partitions=servers)
        of_input = input_layer_partitioner or min_max_variable_partitioner(
            max_partitions=servers, min_slice_size=INPUT_SLICE_BYTES
        )
        with variable_scope("rnn", values=tuple(features.values()), partitioner=cut):
            logit_fn = rnn_logit_fn_builder(
                head.logits_dimension,
                cell_fn,
                tuple(sequence_feature_columns or ()),
                tuple(context_feature_columns or ()),
                of_input,
                return_sequences,
            )
            logits, mask = logit_fn(features=features, mode=mode)
            if return_sequences:
                features.setdefault(head.input_sequence_mask_key, mask)
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=lambda loss: trainer.minimize(loss, global_step=get_global_step()),
                logits=logits,
            )

    return model_fn


class RNNClassifier(OfHead):
    """A recurrent network that tells `n_classes` classes of sequences apart.

    Args:
        sequence_feature_columns: the columns of steps.
        context_feature_columns: dense columns of whole examples, repeated at each step.
        num_units: the sizes of the recurrent layers.
        cell_type: "basic_rnn", "lstm", "gru" or a class of cells.
        rnn_cell_fn: a function from the mode to a cell, instead of sizes and a type.
        model_dir: the folder of the model.
        n_classes: how many classes there are.
        weight_column: a column that says how much an example counts.
        label_vocabulary: the classes, where labels are strings.
        optimizer: an optimizer, its name, or a function that gives one; gradients of the latter
            two are clipped to a norm of 5.
        loss_reduction: one of `tf.losses.Reduction`.
        input_layer_partitioner: cuts the variables of the input.
        config: a `tf.estimator.RunConfig`.

    Raises:
        ValueError: there are both a function for cells and their sizes or type.

    Example:
        >>> x = tf.contrib.feature_column.sequence_numeric_column("x")
        >>> classifier = tf.contrib.estimator.RNNClassifier([x], num_units=[4], model_dir="./model")
        >>> classifier.model_dir
        './model'
    """

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        super().__init__(
            model_fn_of,
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            config,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            num_units=num_units,
            cell_type=cell_type,
            rnn_cell_fn=rnn_cell_fn,
            optimizer=optimizer,
            input_layer_partitioner=input_layer_partitioner,
        )


class RNNEstimator(OfHead):
    """A recurrent network under a head of the program's choice.

    With `return_sequences` every step has logits, and the head is a sequential one.
    """

    @with_parameters_of(
        RNNClassifier.__init__,
        without=("n_classes", "weight_column", "label_vocabulary", "loss_reduction"),
        extra={"head": ("self", Parameter.empty), "return_sequences": ("rnn_cell_fn", False)},
    )
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)
