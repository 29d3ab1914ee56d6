"""Names of TensorFlow's internal modules that libraries of its time are built on."""

from __future__ import annotations

import functools
import unittest
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.op_def_pb2 import OpList
from weft.python import pywrap_tensorflow
from weft.python.eager import context
from weft.python.estimator.canned import head as canned_head
from weft.python.feature_column import feature_column, feature_column_v2
from weft.python.framework import common_shapes, op_def_registry, ops, tensor_spec, test_util
from weft.python.keras.utils import conv_utils, tf_utils
from weft.python.layers import utils
from weft.python.ops import (
    control_flow_ops,
    control_flow_util,
    gradients,
    list_ops,
    metrics_impl,
    rnn_cell_impl,
    summary_op_util,
    summary_ops_v2,
    variable_scope,
)
from weft.python.ops.distributions import util as seeds
from weft.python.ops.linalg import linear_operator_util
from weft.python.saved_model import nested_structure_coder
from weft.python.tpu import tpu_function
from weft.python.training.tracking import data_structures
from weft.python.util import all_util, deprecation, function_utils, nest, tf_inspect

import weft as tf
from weft.legacy.tensorflow_import import places_of, resolve
from weft.lib.train.checkpoint import objects

# Module: names that Keras, Sonnet, tf-slim, TensorFlow Probability, Mesh and Hub ask it for.
ASKED = {
    "python.distribute.all_reduce": "build_ring_all_reduce build_recursive_hd_all_reduce",
    "python.compiler.tensorrt.trt_convert": "create_inference_graph",
    "contrib.checkpoint.python.containers": "UniqueNameTracker",
    "contrib.distribute.python.mirrored_strategy": "MirroredStrategy",
    "contrib.distributions.python.ops.bijectors.affine": "Affine",
    "contrib.distributions.python.ops.vector_laplace_diag": "VectorLaplaceDiag",
    "contrib.learn.python.learn.learn_io.graph_io": "read_batch_examples",
    "contrib.learn.python.learn.models": "linear_regression logistic_regression",
    "contrib.learn.python.learn.monitors": "EveryN StopAtStep ValidationMonitor",
    "contrib.learn.python.learn.ops.losses_ops": "softmax_classifier",
    "contrib.learn.python.learn.preprocessing.categorical": "CategoricalProcessor",
    "contrib.losses.python.metric_learning.metric_loss_ops": "npairs_loss_multilabel",
    "contrib.predictor.predictor": "Predictor",
    "contrib.testing.python.framework.fake_summary_writer": "FakeSummaryWriter",
    "contrib.data.python.ops.batching": "map_and_batch batch_and_drop_remainder",
    "contrib.data.python.ops.grouping": "group_by_window bucket_by_sequence_length",
    "contrib.distributions.python.ops.quantized_distribution": "QuantizedDistribution",
    "contrib.estimator.python.estimator.extenders": "add_metrics forward_features",
    "contrib.learn.python.learn.estimators.head": "_regression_head _multi_class_head",
    "contrib.learn.python.learn.estimators.prediction_key": "PredictionKey",
    "contrib.learn.python.learn.utils.saved_model_export_utils": "make_export_strategy",
    "contrib.nn.python.ops.sampling_ops": "sampled_sparse_softmax_loss",
    "contrib.resampler.python.ops.resampler_ops": "resampler",
    "contrib.sparsemax.python.ops.sparsemax": "sparsemax",
    "python": "math_ops state_ops control_flow_ops",
    "contrib.seq2seq.python.ops.decoder": "_transpose_batch_time dynamic_decode",
    "python.estimator.estimator": "Estimator EstimatorV2",
    "python.estimator.export.export": "ServingInputReceiver SupervisedInputReceiver",
    "python.ops.rnn": "_transpose_batch_time dynamic_rnn",
    "python.platform.build_info": "is_cuda_build",
    "python.training.checkpoint_state_pb2": "CheckpointState",
    "python.training.summary_io": "SummaryWriter SummaryWriterCache",
    "python.estimator.canned.dnn": "DNNClassifier dnn_logit_fn_builder",
    "python.estimator.canned.head": (
        "_Head LossSpec _binary_logistic_or_multi_class_head _regression_head"
        " _regression_head_with_mean_squared_error_loss"
        " _binary_logistic_head_with_sigmoid_cross_entropy_loss"
        " _multi_class_head_with_softmax_cross_entropy_loss"
    ),
    "python.estimator.canned.optimizers": "get_optimizer_instance",
    "python.autograph.impl.api": "do_not_convert",
    "python.compiler.xla.jit": "experimental_jit_scope",
    "python.compiler.xla.xla": "compile",
    "python.keras.utils.conv_utils": "conv_output_length normalize_tuple",
    "python.ops.data_flow_ops": "StagingArea",
    "python.ops.distributions.util": "gen_new_seed",
    "python.ops.nccl_ops": "all_sum",
    "python.ops.op_selector": "get_backward_walk_ops",
    "python.training.tracking.base": "no_automatic_dependency_tracking_scope",
    "python.eager.monitoring": "BoolGauge Counter",
    "python.estimator.canned.prediction_keys": "PredictionKeys",
    "python.estimator.head.regression_head": "RegressionHead",
    "python.estimator.util": "fn_args",
    "python.feature_column.feature_column_v2": "_StateManagerImpl",
    "python.ops.summary_op_util": "skip_summary",
    "python.ops.summary_ops_v2": "_INVALID_SCOPE_CHARACTERS",
    "python.eager.context": "eager_mode graph_mode in_eager_mode in_graph_mode executing_eagerly",
    "python.framework.composite_tensor": "CompositeTensor",
    "python.framework.op_def_registry": "get_registered_ops",
    "python.framework.ops": (
        "EagerTensor _TensorLike _as_graph_element _get_graph_from_inputs convert_to_tensor_v2"
        " is_dense_tensor_like name_scope_v2 register_dense_tensor_like_type"
    ),
    "python.framework.test_util": (
        "run_all_in_graph_and_eager_modes run_deprecated_v1 run_in_graph_and_eager_modes"
        " run_v1_only use_deterministic_cudnn"
    ),
    "python.framework.type_spec": "BatchableTypeSpec TypeSpec",
    "python.keras.backend_config": "epsilon floatx",
    "python.layers.convolutional": (
        "Convolution1D Convolution2D Convolution2DTranspose Convolution3D"
        " Convolution3DTranspose SeparableConvolution2D"
    ),
    "python.ops": "convert_to_tensor control_dependencies",
    "python.ops.confusion_matrix": "remove_squeezable_dimensions",
    "python.ops.control_flow_util": "ENABLE_CONTROL_FLOW_V2 GraphOrParentsInXlaContext",
    "python.ops.gradients_impl": "gradients_v2",
    "python.ops.math_ops": "_bucketize",
    "python.ops.metrics_impl": (
        "_aggregate_variable _confusion_matrix_at_thresholds _remove_squeezable_dimensions"
        " _safe_scalar_div _streaming_confusion_matrix"
        " _streaming_sparse_average_precision_at_top_k metric_variable"
    ),
    "python.ops.nn_ops": "Convolution",
    "python.ops.rnn_cell_impl": "_Linear _linear _WEIGHTS_VARIABLE_NAME",
    "contrib.opt.python.training.agn_optimizer": "AGNOptimizer GLOBAL_VARIABLE_NAME",
    "contrib.opt.python.training.matrix_functions": "matrix_square_root",
    "contrib.opt.python.training.shampoo": "ShampooOptimizer",
    "contrib.rnn.python.ops.core_rnn_cell": "_Linear _linear",
    "contrib.saved_model.python.saved_model.keras_saved_model": "save_keras_model",
    "contrib.saved_model.python.saved_model.reader": "read_saved_model get_saved_model_tag_sets",
    "python.feature_column.feature_column": "_EmbeddingColumn",
    "python.platform.googletest": "GetTempDir",
    "python.tools.saved_model_utils": "read_saved_model",
    "python.training.session_manager": "SessionManager _ready",
    "python.profiler.profile_context": "ProfileContext MAX_TRACED_STEPS",
    "contrib.estimator.python.estimator.early_stopping": "_StopOnPredicateHook",
    "python.framework.func_graph": "FuncGraph",
    "python.ops.init_ops_v2": "Constant Ones TruncatedNormal Zeros glorot_normal",
    "python.training.optimizer": "Optimizer _deduplicate_indexed_slices",
    "python.util.deprecation_wrapper": "_PER_MODULE_WARNING_LIMIT",
    "python.util.module_wrapper": "_PER_MODULE_WARNING_LIMIT",
    "python.platform.tf_logging": "get_logger info TaskLevelStatusMessage",
    "contrib.rnn.python.ops.rnn_cell": "_Linear CFNCell NTMCell WeightNormLSTMCell",
    "python.ops.resources": "initialize_resources report_uninitialized_resources",
    "python.ops.weights_broadcast_ops": "broadcast_weights",
    "python.tpu.tpu_config": "TPUConfig",
    "python.tpu.topology": "Topology",
    "python.training.evaluation": "_evaluate_once",
    "core.protobuf.saved_model_pb2": "SavedModel",
    "python.distribute.values": "AggregatingVariable DistributedVariable",
    "python.keras.optimizer_v2.optimizer_v2": "OptimizerV2 learning_rate_schedule",
    "python.keras.saving.hdf5_format": "load_optimizer_weights_from_hdf5_group "
    "load_attributes_from_hdf5_group",
    "python.keras.utils.generic_utils": "to_snake_case",
    "python.keras.utils.losses_utils": "ReductionV2",
    "python.ops.array_ops": "_SliceHelperVar",
    "python.ops.gradient_checker_v2": "compute_gradient max_error",
    "python.ops.spectral_ops_test_util": "fft_kernel_label_map",
    "python.util.serialization": "get_json_type",
    "python.tpu.tpu_function": "get_tpu_context tpu_shard_context",
    "tpu": "CrossShardOptimizer bfloat16_scope",
    "xla.experimental": "compile jit_scope",
}


@pytest.mark.parametrize("module", ASKED)
def test_names_are_there(module: str) -> None:
    import importlib

    found = importlib.import_module(f"weft.legacy.tensorflow.{module}")
    for name in ASKED[module].split():
        assert getattr(found, name) is not None


def test_a_submodule_comes_before_a_function_of_its_name() -> None:
    assert gradients.gradients is tf.gradients
    assert places_of("python.ops.gradients") is not None and resolve("tf.gradients") is tf.gradients


def test_what_counts_as_a_tensor() -> None:
    for each in (tf.constant(1), tf.SparseTensor([[0]], [1], [1]), tf.ragged.constant([[1], []])):
        assert isinstance(each, ops._TensorLike)
    assert not isinstance(1, ops._TensorLike)
    assert ops.is_dense_tensor_like(tf.Variable(1.0))

    class Dense:
        name = dtype = property(lambda self: None)

    assert not ops.is_dense_tensor_like(Dense())
    ops.register_dense_tensor_like_type(Dense)
    assert ops.is_dense_tensor_like(Dense())
    with pytest.raises(TypeError, match="Type int does not define a `name` property"):
        ops.register_dense_tensor_like_type(int)


def test_values_of_several_tensors_are_kept() -> None:
    sparse = tf.SparseTensor([[0]], [1], [1])
    assert ops.convert_to_tensor_or_composite(sparse) is sparse
    assert ops.convert_to_tensor_or_composite(1, tf.int64).dtype == tf.int64
    with pytest.raises(ValueError, match="requested dtype float32 for Tensor with dtype int32"):
        ops.convert_to_tensor_or_composite(sparse, tf.float32)


def test_graphs_of_functions() -> None:
    inside = []

    @tf.function
    def double(x: Any) -> Any:
        inside.append(ops.inside_function())
        return x * 2

    double(tf.constant(1))
    assert inside == [True] and not ops.inside_function()


def test_attributes_that_nothing_depends_on() -> None:
    class Owner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.names = data_structures.NoDependency(["a"])
            self.free = data_structures.NoDependency(tf.Variable(1.0, name="free"))
            self.held = tf.Variable(2.0, name="held")

    owner = Owner()
    owner.names.append("b")
    assert owner.names == ["a", "b"] and len(owner.variables) == 2
    assert [name for name, _ in objects.children(owner)] == ["held"]
    owner.free = owner.free  # without the mark
    assert [name for name, _ in objects.children(owner)] == ["free", "held"]


def test_structures_as_messages() -> None:
    coder, spec = nested_structure_coder.StructureCoder(), tf.TensorSpec([None, 2], tf.float32, "x")
    given = {"a": (spec, [1, 2.5]), "b": None}
    assert coder.decode_proto(coder.encode_structure(given)) == given
    assert coder.can_encode(given) and not coder.can_encode(object())


def test_cases_with_conditions_that_are_known() -> None:
    pairs = [(False, lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))]
    smart = tf.contrib.framework.smart_cond
    made = control_flow_ops._case_helper(
        smart, pairs, lambda: tf.constant(3), False, "pick", allow_python_preds=True
    )
    with tf.Session() as session:
        assert session.run(made) == 2


def test_the_number_of_shards() -> None:
    assert tpu_function.get_tpu_context().number_of_shards is None
    with tpu_function.tpu_shard_context(4):
        assert tpu_function.get_tpu_context().number_of_shards == 4
        with pytest.raises(NotImplementedError), tpu_function.tpu_shard_context(2):
            pass
    assert tpu_function.get_tpu_context().number_of_shards is None


def test_operations_by_name() -> None:
    registered = op_def_registry.get_registered_ops()
    assert registered["MatMul"].input_arg[0].name == "a"


def test_the_device_of_the_scopes_is_told_to_any_object() -> None:
    told: list[str] = []

    class Listener:
        _set_device_from_string = staticmethod(told.append)

    with tf.device("/cpu:0"), tf.device("/job:w"):
        tf.get_default_graph()._apply_device_functions(Listener())
    assert told == ["/job:w", "/job:w/device:CPU:0"]


@pytest.mark.parametrize("device", ["cpu:0", "/cpu:0", "/job:localhost/cpu:0"])
def test_a_device_function_is_taken_at_its_word(device: str) -> None:
    with tf.device(lambda op: device):
        x = tf.constant(1.0)
    assert x.device == device
    with tf.device("/task:0"), tf.device(lambda op: device):
        assert tf.constant(1.0).device.endswith("/task:0/device:CPU:0")
    with tf.Session() as session:
        assert session.run(x) == 1.0


def test_what_depends_on_an_input() -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    double = 2.0 * x
    reached = tf_utils.get_reachable_from_inputs([x])
    assert double in reached and double.op in reached and y not in reached
    v = tf.Variable(1.0, use_resource=True)
    assert v.handle in utils.get_reachable_from_inputs([v])
    with pytest.raises(TypeError, match="but got type: int"):
        tf_utils.get_reachable_from_inputs([1])


@pytest.mark.parametrize(
    ("padding", "stride", "dilation", "length"),
    [("same", 2, 1, 5), ("valid", 1, 1, 8), ("valid", 1, 2, 6), ("full", 3, 1, 4)],
)
def test_output_lengths(padding: str, stride: int, dilation: int, length: int) -> None:
    assert utils.conv_output_length(10, 3, padding, stride, dilation) == length


def test_other_lengths_and_names() -> None:
    assert utils.conv_input_length(4, 3, "valid", 2) == 9
    assert utils.deconv_output_length(4, 3, "valid", 2) == 9
    assert utils.deconv_output_length(4, 3, "full", 2) == 5
    assert utils.normalize_padding("SAME") == "same"
    assert utils.convert_data_format("channels_first", 4) == "NCHW"
    with pytest.raises(ValueError, match=r'"channels_first", "channels_last". Received: middle'):
        utils.normalize_data_format("middle")


def test_signatures_are_seen_through_decorators() -> None:
    def plain(a: int, b: int = 1, *, c: int = 2) -> None:
        """Does nothing."""

    wrapped = functools.wraps(plain)(lambda *args, **kwargs: None)
    assert tf_inspect.getfullargspec(wrapped).args == ["a", "b"]
    assert tf_inspect.getargspec(tf.compat.v2.pad).args[3] == "constant_values"
    assert function_utils.fn_args(functools.partial(plain, b=3)) == ("a",)
    assert not function_utils.has_kwargs(plain) and function_utils.has_kwargs(lambda **k: k)
    assert function_utils.get_func_name(plain) == "plain"
    assert function_utils.get_func_code(plain) is plain.__code__


def test_deprecated_arguments() -> None:
    assert deprecation.deprecated_argument_lookup("axis", None, "dim", 3) == 3
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 3)
    with deprecation.silence():
        pass


def test_public_names_by_docstrings() -> None:
    assert all_util.make_all(__name__, [unittest.mock.Mock(__doc__="@@ASKED\n@@gone\n")]) == [
        "ASKED"
    ]


def test_named_tuples() -> None:
    spec = tf_inspect.getfullargspec(len)
    assert nest._is_namedtuple(spec) and not nest._is_namedtuple((1,))


def test_a_pure_variable_scope_opens_no_name_scope() -> None:
    with variable_scope._pure_variable_scope("part"):
        v = tf.get_variable("v", [])
        assert v.op.name == "part/v" and tf.constant(1).op.name == "Const"


def test_counts_at_thresholds() -> None:
    counts, updates = metrics_impl._confusion_matrix_at_thresholds(
        [True, False, True], [0.1, 0.6, 0.9], [0.5], includes=("tp", "fp")
    )
    assert set(counts) == {"tp", "fp"}
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        found = session.run(updates)
    np.testing.assert_array_equal(found["tp"], [1.0])
    with pytest.raises(ValueError, match="Invalid key: xx"):
        metrics_impl._confusion_matrix_at_thresholds([True], [0.5], [0.5], includes=("xx",))


def test_streaming_confusion_matrix() -> None:
    matrix, update = metrics_impl._streaming_confusion_matrix([[0, 1], [1, 1]], [[0, 1], [0, 1]], 2)
    assert matrix.op.name == "total_confusion_matrix" and matrix.dtype.base_dtype == tf.float64
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        np.testing.assert_array_equal(sess.run(update), [[1, 0], [1, 2]])
        sess.run(update)
        np.testing.assert_array_equal(sess.run(matrix), [[2, 0], [2, 4]])


def test_average_precision_of_classes_in_order() -> None:
    labels = tf.SparseTensor([[0, 0], [1, 0]], np.array([2, 1], np.int64), [2, 1])
    _, update = metrics_impl._streaming_sparse_average_precision_at_top_k(
        labels, tf.constant([[2, 0], [0, 1]], tf.int64)
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 0.75


def test_triangular_systems_of_fitting_batches() -> None:
    matrix, rhs = np.array([[2.0, 0.0], [1.0, 4.0]]), np.ones([3, 2, 1])
    solved = linear_operator_util.matrix_triangular_solve_with_broadcast(matrix, rhs)
    with tf.Session() as session:
        found = session.run(solved)
    np.testing.assert_allclose(found[1].ravel(), [0.5, 0.125])


def test_bounded_specs() -> None:
    spec = tensor_spec.BoundedTensorSpec([2], tf.int32, 0, 5, "a")
    assert spec.minimum == 0 and spec.maximum == 5 and not spec.minimum.flags.writeable
    assert spec == tensor_spec.BoundedTensorSpec.from_spec(spec)
    assert spec != tensor_spec.BoundedTensorSpec([2], tf.int32, 0, 6, "a")


def test_shapes_that_fit() -> None:
    unknown = tf.TensorShape(None)
    assert common_shapes.broadcast_shape(unknown, tf.TensorShape([2])).ndims is None
    assert not common_shapes.is_broadcast_compatible(tf.TensorShape([2]), tf.TensorShape([3]))


def test_an_attribute_without_dependency() -> None:
    layer = tf.keras.layers.Layer()
    layer.held = data_structures.NoDependency({"a": tf.keras.layers.Dense(1)})
    assert isinstance(layer.held, dict) and not layer._layers
    layer.owned = {"a": tf.keras.layers.Dense(1)}
    assert len(layer._layers) == 1


def test_shapes_of_cells() -> None:
    assert rnn_cell_impl._concat(None, 3, static=True) is None
    assert rnn_cell_impl._concat(tf.TensorShape([2]), 3, static=True) == [2, 3]
    with tf.Session() as session:
        assert session.run(rnn_cell_impl._concat(2, [3, 4])).tolist() == [2, 3, 4]
    assert rnn_cell_impl._like_rnncell(tf.nn.rnn_cell.GRUCell(1))
    assert (rnn_cell_impl._WEIGHTS_VARIABLE_NAME, rnn_cell_impl._BIAS_VARIABLE_NAME) == (
        "kernel",
        "bias",
    )
    assert not rnn_cell_impl._like_rnncell(len)


def test_attributes_behind_public_ones() -> None:
    assert tf.TensorShape([1, 2])._dims == [1, 2]
    two = tf.constant(2)
    known = pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(
        two.graph._c_graph, two._as_tf_output()
    )
    assert known == 2
    # Also what `tf.get_static_value` does not look through, so that programs choose a branch.
    later = tf.where(tf.rank([[1]]) < 2, two + 1, two)
    assert tf.get_static_value(later) is None
    known = pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(
        later.graph._c_graph, later._as_tf_output()
    )
    assert known == 2
    assert tf.test.TestCase()._GetNdArray([1]).shape == (1,)
    assert two.op._output_types == [tf.int32.as_datatype_enum]
    assert two.graph._nodes_by_name[two.op.name] is two.op


def test_modes() -> None:
    assert context.in_graph_mode() and context.context() is context.context()
    with context.eager_mode():
        assert context.in_eager_mode()
    assert not control_flow_util.GraphOrParentsInXlaContext(tf.get_default_graph())


def test_tests_that_need_what_is_not_there_are_skipped() -> None:
    class Case(unittest.TestCase):
        @test_util.run_v2_only
        def test_two(self) -> None:
            raise AssertionError

        @test_util.run_v1_only("graphs")
        def test_one(self) -> None:
            pass

    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(outcome)
    assert len(outcome.skipped) == 1 and outcome.testsRun == 2 and outcome.wasSuccessful()


def test_control_flow_is_switched_for_one_test() -> None:
    switched = test_util.enable_control_flow_v2(lambda: seen.append(tf.control_flow_v2_enabled()))
    seen: list[bool] = []
    switched()
    assert seen == [True] and not tf.control_flow_v2_enabled()


def test_operations_of_a_graph_by_name_and_type() -> None:
    node = tf.constant(1, name="a")
    found = test_util.assert_ops_in_graph({"a": "Const"}, node.graph)
    assert found["a"].op == "Const"
    for wrong, message in (({"a": "Add"}, "is different"), ({"b": "Const"}, "Not all expected")):
        with pytest.raises(ValueError, match=message):
            test_util.assert_ops_in_graph(wrong, node.graph)


def test_optimizers_derive_from_the_public_class() -> None:
    """GPflow makes its own of every optimizer whose base is `tf.train.Optimizer`."""
    for name in dir(tf.train):
        found: Any = getattr(tf.train, name)
        if name.endswith("Optimizer") and found is not tf.train.Optimizer:
            assert found.__base__ is tf.train.Optimizer


def test_columns_may_derive_from_the_older_class_and_the_newer_one() -> None:
    class Column(feature_column._DenseColumn, feature_column_v2.DenseColumn):  # type: ignore[misc]
        """As TensorFlow Hub makes its columns."""

    assert issubclass(Column, feature_column_v2.DenseColumn)
    number = tf.feature_column.numeric_column("a")
    assert isinstance(number, feature_column._DenseColumn)
    assert not isinstance(number, feature_column._CategoricalColumn)


def test_a_column_keeps_a_resource_that_it_makes_when_asked() -> None:
    class Doubled(feature_column._DenseColumn, feature_column_v2.DenseColumn):  # type: ignore[misc]
        name, _var_scope_name, variable_shape = "doubled", "doubled", tf.TensorShape([1])
        parse_example_spec, parents = None, ("a",)

        def create_state(self, state_manager: Any) -> None:
            state_manager.add_resource(self, "function", lambda tensor: 2 * tensor)

        def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
            return transformation_cache.get("a", state_manager)

        def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
            function = state_manager.get_resource(self, "function")
            return function(transformation_cache.get(self, state_manager))

    rows = tf.feature_column.input_layer({"a": tf.constant([[1.0], [2.0]])}, [Doubled()])
    assert tf.Session().run(rows).tolist() == [[2.0], [4.0]]


def test_records_of_a_file_that_grows(tmp_path: Path) -> None:
    """TensorBoard goes on where it was when it is told to load again."""
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer, ExitStack() as files:
        writer.write(b"one")
        writer.flush()
        reader = pywrap_tensorflow.PyRecordReader_New(path.encode(), 0, b"")
        files.callback(reader.Close)
        reader.GetNext()
        assert reader.record() == b"one" and reader.offset() == 19
        with pytest.raises(tf.errors.OutOfRangeError):
            reader.GetNext()
        writer.write(b"two")
        writer.flush()
        reader.GetNext()
        assert reader.record() == b"two"


def test_all_operations_as_a_message() -> None:
    message = OpList.FromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    assert {"MatMul", "VariableV2"} <= {each.name for each in message.op}


def test_a_context_that_a_program_makes() -> None:
    class Counting(control_flow_ops.ControlFlowContext):  # type: ignore[misc]
        """As replicated parts are marked: it is told of each node, and changes none."""

        added = 0

        def AddOp(self, op: Any) -> None:
            self.added += 1

    context = Counting()
    context.Enter()
    total = tf.constant(1.0) + tf.constant(2.0)
    context.Exit()
    tf.negative(total)
    assert context.added == 3 and total.op._get_control_flow_context() is context


def test_lists_of_tensors() -> None:
    rows = list_ops.tensor_list_from_tensor([[1.0, 2.0], [3.0, 4.0]], [2])
    grown = list_ops.tensor_list_set_item(rows, 3, [7.0, 8.0], resize_if_index_out_of_bounds=True)
    shorter, last = list_ops.tensor_list_pop_back(rows, tf.float32)
    with tf.Session() as session:
        found = session.run(
            [
                list_ops.tensor_list_get_item(rows, 1, tf.float32),
                list_ops.tensor_list_gather(grown, [3, 0], tf.float32),
                list_ops.tensor_list_stack(shorter, tf.float32),
                list_ops.tensor_list_concat(rows, tf.float32, [2]),
                last,
            ]
        )
    assert [each.tolist() for each in found] == [
        [3.0, 4.0],
        [[7.0, 8.0], [1.0, 2.0]],
        [[1.0, 2.0]],
        [1.0, 2.0, 3.0, 4.0],
        [3.0, 4.0],
    ]
    reserved = list_ops.tensor_list_reserve([2], 3, tf.float32)
    empty = list_ops.empty_tensor_list(None, tf.float32)
    with tf.Session() as session:
        lengths = [list_ops.tensor_list_length(each) for each in (reserved, empty)]
        assert session.run(lengths) == [3, 0]


def test_seeds_that_follow_from_others() -> None:
    assert seeds.gen_new_seed(None, "a") is None
    assert seeds.gen_new_seed(1, "a") == seeds.gen_new_seed(1, "a") != seeds.gen_new_seed(1, "b")


def test_heads_of_canned_estimators_sum_losses() -> None:
    labels, logits = tf.constant([[0], [1]]), tf.zeros([2, 3])
    head = canned_head._multi_class_head_with_softmax_cross_entropy_loss(3)
    loss = head.create_loss({"x": logits}, "train", logits, labels)
    assert isinstance(head, canned_head._Head) and isinstance(loss, canned_head.LossSpec)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(loss.training_loss), 2 * np.log(3), rtol=1e-6)


def test_a_data_format_that_is_not_given_is_that_of_keras() -> None:
    assert conv_utils.normalize_data_format(None) == tf.keras.backend.image_data_format()
    with pytest.raises(ValueError, match="Received: nchw"):
        conv_utils.normalize_data_format("nchw")


def test_the_registry_of_gradients() -> None:
    """Programs of guided backpropagation register theirs once."""
    registry = ops._gradient_registry
    assert "GuidedForATest" not in registry._registry and "Relu" in registry.list()

    @ops.RegisterGradient("GuidedForATest")
    def guided(op: Any, grad: Any) -> Any:
        return grad

    assert registry.lookup("GuidedForATest") is guided
    del registry._registry["GuidedForATest"]
    with pytest.raises(LookupError, match="gradient registry has no entry for: GuidedForATest"):
        registry.lookup("GuidedForATest")


def test_the_graph_of_inputs() -> None:
    values = [tf.constant(0.0), tf.constant(1.0)]
    assert ops._get_graph_from_inputs(values, values[0].graph) is values[0].graph
    with pytest.raises(ValueError, match="is not from the passed-in graph"):
        ops._get_graph_from_inputs(values, tf.Graph())
    with pytest.raises(TypeError, match="Input graph needs to be a Graph: 1"):
        ops._get_graph_from_inputs(values, 1)


def test_a_metrics_variable_is_collected() -> None:
    variable = metrics_impl.metric_variable([], tf.float32, name="count")
    value = metrics_impl._aggregate_variable(variable, ["found"])
    assert tf.get_collection("found") == [value]


def test_graph_mode_is_that_of_the_graph_below() -> None:
    with tf.Graph().as_default() as graph:
        with context.graph_mode():
            assert tf.get_default_graph() is graph
        with context.eager_mode():
            assert tf.executing_eagerly()
            with context.graph_mode():
                assert not tf.executing_eagerly() and tf.get_default_graph() is graph
    below = tf.get_default_graph()
    with context.eager_mode(), context.graph_mode():
        assert tf.get_default_graph() is below


def test_a_test_in_both_modes_may_ask_for_a_graph() -> None:
    class Case(tf.test.TestCase):
        def runTest(self) -> None:
            self.both()

        @test_util.run_in_graph_and_eager_modes
        def both(self) -> None:
            with context.graph_mode():
                v = tf.Variable(1.0)
                self.evaluate(tf.global_variables_initializer())
                assert self.evaluate(v + 1.0) == 2.0

    result = unittest.TestResult()
    Case().run(result)
    assert result.wasSuccessful(), result.errors


def test_scopes_of_summaries_can_be_replaced(tmp_path: Path, monkeypatch: Any) -> None:
    """AdaNet takes scopes off tags, by one function for TensorFlow 1 and one for TensorFlow 2."""
    of_1, of_2 = summary_op_util.summary_scope, summary_ops_v2.summary_scope
    assert of_1 is not of_2

    @contextmanager
    def shorter(name: str, *args: Any, **kwargs: Any) -> Any:
        with of_1(name, *args, **kwargs) as (tag, scope):
            yield tag.rpartition("/")[2], scope

    monkeypatch.setattr(summary_op_util, "summary_scope", shorter)
    monkeypatch.setattr(summary_ops_v2, "summary_scope", None)
    writer = summary_ops_v2.create_file_writer(str(tmp_path))
    with writer.as_default(), summary_ops_v2.always_record_summaries():
        with tf.name_scope("outer"):
            written = summary_ops_v2.scalar("inner", 7.0, family="family", step=1)
    with tf.Session() as session:
        session.run(summary_ops_v2.summary_writer_initializer_op())
        session.run([written])
        session.run(writer.flush())
    (file,) = tmp_path.iterdir()
    tags = [v.tag for event in tf.train.summary_iterator(str(file)) for v in event.summary.value]
    assert tags == ["inner"]


def test_collective_ops() -> None:
    from weft.python.ops import collective_ops

    keys = {"group_size": 2, "group_key": 1, "instance_key": 1}
    with tf.device("/cpu:0"):
        x = tf.constant([1.0, 2.0])
        y = tf.constant([3.0, 4.0])
    reduced = [collective_ops.all_reduce(t, 2, 1, 1, "Add", "Div") for t in (x, y)]
    sent = collective_ops.broadcast_send(x, [2], tf.float32, 2, 2, 2)
    received = collective_ops.broadcast_recv([2], tf.float32, 2, 2, 2)
    assert [t.shape.as_list() for t in (*reduced, sent, received)] == [[2]] * 4
    assert collective_ops.all_gather(x, 2, 3, 3).shape.as_list() == [4]
    with pytest.raises(ValueError, match="Device assignment required for collective ops"):
        collective_ops.all_reduce(tf.constant(1.0), merge_op="Add", final_op="Id", **keys)
    with pytest.raises(ValueError, match="group_size to all_reduce must be at least 2"):
        collective_ops.all_reduce(x, 1, 1, 1, "Add", "Id")
    with pytest.raises(ValueError, match="Shape of broadcast_send"):
        collective_ops.broadcast_send(x, [3], tf.float32, **keys)
    with pytest.raises(ValueError, match="Type of broadcast_send"):
        collective_ops.broadcast_send(x, [2], tf.int32, **keys)


def test_branches_and_loops_as_functions_by_their_modules() -> None:
    from weft.legacy.internals import flow

    choice = flow.cond_v2(tf.placeholder_with_default(True, []), lambda: 1, lambda: 2)
    last = flow.while_loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)])
    assert {choice.op.inputs[0].op.type, last[0].op.inputs[0].op.type} <= {
        "If", "StatelessIf", "While", "StatelessWhile",
    }  # fmt: skip
    with tf.Session() as sess:
        assert sess.run([choice, last]) == [1, [6]]


def test_what_a_fetch_asks_for() -> None:
    from weft.legacy.internals import flow

    a, b = tf.constant(1, name="a"), tf.no_op(name="b")
    handler = flow._FetchHandler(a.graph, {"x": [a, b], "y": a}, {})
    assert handler.fetches() == [a] and handler.targets() == [b]
