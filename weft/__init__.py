"""weft: TensorFlow 1 programs on NumPy and XLA. `import weft as tf`.

A name is imported when a program first uses it.
"""

from __future__ import annotations

from weft.api import public_modules
from weft.core import first_use, tracebacks

# Where the public namespaces are made.
_NAMESPACES = {
    "weft.api": (
        "app audio bitwise compat config data debugging distribute distributions dtypes "
        "estimator feature_column gfile graph_util image initializers io keras layers linalg "
        "logging lookup losses manip math metrics nn profiler python_io quantization queue "
        "ragged random resource_loader saved_model sets signal sparse spectral strings "
        "summary sysconfig test tpu train version xla"
    ),
    "weft.core": "errors nest",
    "weft.legacy": "examples python",
    "weft.lib": "autograph contrib",
    "weft.lib.platform": "flags",
}
# Where everything else is made; `public=name` is called otherwise there.
_NAMES = {
    "tensorboard.compat.proto.attr_value_pb2": "AttrValue NameAttrList",
    "tensorboard.compat.proto.config_pb2": (
        "ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions"
    ),
    "tensorboard.compat.proto.event_pb2": "Event LogMessage SessionLog",
    "tensorboard.compat.proto.graph_pb2": "GraphDef",
    "tensorboard.compat.proto.histogram_pb2": "HistogramProto",
    "tensorboard.compat.proto.meta_graph_pb2": "MetaGraphDef TensorInfo",
    "tensorboard.compat.proto.node_def_pb2": "NodeDef",
    "tensorboard.compat.proto.summary_pb2": "Summary SummaryMetadata",
    "weft.autodiff.accumulate": "AggregationMethod",
    "weft.autodiff.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "weft.autodiff.gradients": "gradients UnconnectedGradients",
    "weft.autodiff.hessians": "hessians",
    "weft.autodiff.registration": (
        "no_gradient=NotDifferentiable NoGradient NotDifferentiable RegisterGradient"
    ),
    "weft.autodiff.tape": "GradientTape",
    "weft.client.session": "InteractiveSession Session",
    "weft.core.device_name": "DeviceSpec",
    "weft.core.dtypes": (
        "as_dtype bfloat16 bool complex128 complex64 double DType float16 float32 float64 "
        "half int16 int32 int64 int8 qint16 qint32 qint8 QUANTIZED_DTYPES quint16 quint8 "
        "resource string uint16 uint32 uint64 uint8 variant"
    ),
    "weft.core.errors": "OpError",
    "weft.core.shapes": "Dimension dimension_at_index dimension_value TensorShape",
    "weft.graph.constant": "constant",
    "weft.graph.constant_value": "get_static_value",
    "weft.graph.convert": "convert_to_tensor register_tensor_conversion_function",
    "weft.graph.graph": (
        "add_to_collection add_to_collections colocate_with container control_dependencies "
        "device get_collection get_collection_ref Graph init_scope name_scope op_scope"
    ),
    "weft.graph.importer": "import_graph_def",
    "weft.graph.keys": "GraphKeys",
    "weft.graph.op_def": "raw_ops=raw",
    "weft.graph.operation": "Operation",
    "weft.graph.random_seed": "get_seed set_random_seed",
    "weft.graph.slices": (
        "convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor IndexedSlices "
        "SparseTensor SparseTensorValue"
    ),
    "weft.graph.stacks": "get_default_graph get_default_session reset_default_graph",
    "weft.graph.tensor": "Tensor",
    "weft.graph.tensor_proto": "make_ndarray make_tensor_proto",
    "weft.graph.tensor_util": "is_tensor",
    "weft.graph.type_spec": "IndexedSlicesSpec SparseTensorSpec TensorSpec TypeSpec",
    "weft.lib.data.optional": "OptionalSpec",
    "weft.lib.functions.batched": "nondifferentiable_batch_function",
    "weft.lib.functions.polymorphic": "function",
    "weft.lib.functions.vectorized": "vectorized_map",
    "weft.lib.functions.wrap": "wrap_function",
    "weft.lib.linalg.dispatch": (
        "cholesky matmul matrix_determinant matrix_diag_part matrix_inverse matrix_solve trace"
    ),
    "weft.lib.platform.behavior": (
        "control_flow_v2_enabled disable_control_flow_v2 disable_eager_execution "
        "disable_tensor_equality disable_v2_behavior disable_v2_tensorshape "
        "enable_control_flow_v2 enable_eager_execution enable_tensor_equality "
        "enable_v2_behavior enable_v2_tensorshape"
    ),
    "weft.lib.platform.load_library": "load_file_system_library load_library load_op_library",
    "weft.lib.platform.module": "Module",
    "weft.lib.platform.tf_logging": "get_logger",
    "weft.lib.platform.versions": (
        "__compiler_version__ __cxx11_abi_flag__ __git_version__ __monolithic_build__ "
        "__version__ COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION "
        "GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER MONOLITHIC_BUILD "
        "VERSION"
    ),
    "weft.lib.ragged.dispatched": (
        "abs acos acosh add add_n angle as_string asin asinh atan atan2 atanh batch_gather "
        "cast ceil check_numerics clip_by_value complex concat conj cos cosh decode_base64 "
        "decode_compressed digamma div div_no_nan divide dynamic_partition encode_base64 "
        "equal erf erfc exp expand_dims expm1 floor floordiv floormod gather gather_nd "
        "greater greater_equal identity imag is_finite is_inf is_nan less less_equal lgamma "
        "log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum "
        "mod=floormod multiply negative=_function not_equal one_hot ones_like pow rank real "
        "realdiv reciprocal reduce_all reduce_any reduce_join reduce_max reduce_mean "
        "reduce_min reduce_prod reduce_sum regex_replace rint round rsqrt saturate_cast sign "
        "sin sinh size sqrt square squared_difference squeeze stack string_join string_strip "
        "string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong "
        "string_to_number substr subtract tan tile truediv truncatediv truncatemod "
        "unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
        "unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum where zeros_like"
    ),
    "weft.lib.ragged.map_rows": "map_fn",
    "weft.lib.ragged.spec": "RaggedTensorSpec",
    "weft.lib.ragged.strings": "string_split",
    "weft.lib.ragged.tensor": "RaggedTensor",
    "weft.lib.signal": "fft fft2d fft3d ifft ifft2d ifft3d",
    "weft.ops.array.blocks": (
        "batch_to_space batch_to_space_nd required_space_to_batch_paddings space_to_batch "
        "space_to_batch_nd"
    ),
    "weft.ops.array.depth_blocks": "depth_to_space space_to_depth",
    "weft.ops.array.diag": "diag diag_part matrix_band_part matrix_diag matrix_set_diag",
    "weft.ops.array.distinct": "setdiff1d unique unique_with_counts",
    "weft.ops.array.fill": (
        "broadcast_dynamic_shape broadcast_static_shape broadcast_to fill ones zeros"
    ),
    "weft.ops.array.gather": "sparse_mask",
    "weft.ops.array.join": "parallel_stack",
    "weft.ops.array.one_hot_search": (
        "boolean_mask searchsorted sequence_mask unravel_index where_v2"
    ),
    "weft.ops.array.pad": "pad",
    "weft.ops.array.partition": "dynamic_stitch",
    "weft.ops.array.patches": "extract_image_patches extract_volume_patches",
    "weft.ops.array.placeholders": (
        "ensure_shape guarantee_const identity_n placeholder placeholder_with_default "
        "sparse_placeholder stop_gradient"
    ),
    "weft.ops.array.repeat": "meshgrid repeat",
    "weft.ops.array.reverse": "reverse reverse_sequence reverse_v2 roll",
    "weft.ops.array.scatter": (
        "scatter_nd tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_sub "
        "tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update"
    ),
    "weft.ops.array.shape": "invert_permutation matrix_transpose reshape shape shape_n transpose",
    "weft.ops.array.slicing": "slice",
    "weft.ops.array.split": "split unstack",
    "weft.ops.array.strided": "newaxis strided_slice",
    "weft.ops.control.case": "case switch_case",
    "weft.ops.control.check": (
        "add_check_numerics_ops assert_equal assert_greater assert_greater_equal assert_less "
        "assert_less_equal assert_near assert_negative assert_non_negative "
        "assert_non_positive assert_none_equal assert_positive is_non_decreasing "
        "is_strictly_increasing verify_tensor_all_finite"
    ),
    "weft.ops.control.check_shapes": (
        "assert_rank assert_rank_at_least assert_rank_in assert_scalar"
    ),
    "weft.ops.control.check_types": (
        "assert_integer assert_proper_iterable assert_same_float_dtype assert_type "
        "is_numeric_tensor"
    ),
    "weft.ops.control.clock": "timestamp",
    "weft.ops.control.cond": "cond",
    "weft.ops.control.control": "Assert group no_op tuple=tuple_",
    "weft.ops.control.critical_section": "CriticalSection",
    "weft.ops.control.printing": "Print print=print_v2",
    "weft.ops.control.while_loop": "while_loop",
    "weft.ops.functions.functional": "foldl foldr scan",
    "weft.ops.functions.py_func": "numpy_function py_func py_function",
    "weft.ops.kit.eager": "executing_eagerly",
    "weft.ops.linalg.linalg": (
        "matrix_solve_ls matrix_square_root matrix_triangular_solve norm qr self_adjoint_eig "
        "self_adjoint_eigvals svd"
    ),
    "weft.ops.linalg.matrices": "eye",
    "weft.ops.linalg.solve": "cholesky_solve",
    "weft.ops.lists.tensor_array": "TensorArray",
    "weft.ops.lists.tensor_array_spec": "TensorArraySpec",
    "weft.ops.lookup.tables": "initialize_all_tables tables_initializer",
    "weft.ops.math.arg_extremes": "arg_max arg_min argmax argmin",
    "weft.ops.math.casts": (
        "bitcast to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64"
    ),
    "weft.ops.math.clip": "clip_by_average_norm clip_by_global_norm clip_by_norm global_norm",
    "weft.ops.math.cumulative": "cumprod cumsum",
    "weft.ops.math.einsum": "einsum",
    "weft.ops.math.elementwise": "floor_div",
    "weft.ops.math.histogram": "bincount histogram_fixed_width histogram_fixed_width_bins",
    "weft.ops.math.math": "accumulate_n lbeta scalar_mul sigmoid",
    "weft.ops.math.matmul": "cross sparse_matmul tensordot",
    "weft.ops.math.reduce": "count_nonzero reduce_logsumexp",
    "weft.ops.math.segment": "segment_max segment_mean segment_min segment_prod segment_sum",
    "weft.ops.math.segment_sparse": "sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum",
    "weft.ops.math.sequence": "lin_space linspace range",
    "weft.ops.math.sort": "argsort sort",
    "weft.ops.math.special": "betainc igamma igammac polygamma zeta",
    "weft.ops.math.unary": "tanh",
    "weft.ops.nn.ctc": "ctc_loss_v2",
    "weft.ops.parsing.csv": "decode_csv",
    "weft.ops.parsing.features": (
        "FixedLenFeature FixedLenSequenceFeature parse_example parse_single_example "
        "SparseFeature VarLenFeature"
    ),
    "weft.ops.parsing.sequence": "parse_single_sequence_example",
    "weft.ops.quantized.arithmetic": "quantized_concat",
    "weft.ops.quantized.fake_quant": (
        "fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient "
        "fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient "
        "fake_quant_with_min_max_vars_per_channel "
        "fake_quant_with_min_max_vars_per_channel_gradient"
    ),
    "weft.ops.quantized.quantize": "dequantize quantize quantize_v2",
    "weft.ops.queues.accumulators": (
        "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator"
    ),
    "weft.ops.queues.queues": (
        "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"
    ),
    "weft.ops.queues.readers": (
        "FixedLengthRecordReader IdentityReader LMDBReader matching_files read_file "
        "ReaderBase TextLineReader TFRecordReader WholeFileReader write_file"
    ),
    "weft.ops.random.random": (
        "multinomial random_crop random_gamma random_normal random_poisson random_shuffle "
        "random_uniform truncated_normal"
    ),
    "weft.ops.scores.confusion_matrix": "confusion_matrix",
    "weft.ops.sparse.add": "sparse_add",
    "weft.ops.sparse.convert": (
        "sparse_maximum sparse_minimum sparse_reduce_max sparse_reduce_max_sparse "
        "sparse_reduce_sum sparse_reduce_sum_sparse sparse_softmax sparse_tensor_to_dense "
        "sparse_to_indicator"
    ),
    "weft.ops.sparse.matmul": "sparse_tensor_dense_matmul",
    "weft.ops.sparse.select": (
        "sparse_concat sparse_fill_empty_rows sparse_merge sparse_reorder sparse_reset_shape "
        "sparse_reshape sparse_retain sparse_slice sparse_split sparse_transpose"
    ),
    "weft.ops.sparse.serialize": "deserialize_many_sparse serialize_many_sparse serialize_sparse",
    "weft.ops.sparse.to_dense": "sparse_to_dense",
    "weft.ops.state.get_variable": (
        "get_local_variable get_variable get_variable_scope VariableScope"
    ),
    "weft.ops.state.initializers": (
        "constant_initializer glorot_normal_initializer glorot_uniform_initializer "
        "ones_initializer orthogonal_initializer random_normal_initializer "
        "random_uniform_initializer truncated_normal_initializer "
        "uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer"
    ),
    "weft.ops.state.partitioners": (
        "create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner "
        "variable_axis_size_partitioner"
    ),
    "weft.ops.state.session_tensors": "delete_session_tensor get_session_handle get_session_tensor",
    "weft.ops.state.template": "make_template",
    "weft.ops.state.updates": (
        "assign assign_add assign_sub batch_scatter_update count_up_to "
        "is_variable_initialized scatter_add scatter_div scatter_max scatter_min scatter_mul "
        "scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update"
    ),
    "weft.ops.state.variable_creators": "variable_creator_scope",
    "weft.ops.state.variable_def": "VariableAggregation VariableSynchronization",
    "weft.ops.state.variable_lists": (
        "all_variables assert_variables_initialized global_variables "
        "global_variables_initializer initialize_all_variables initialize_local_variables "
        "initialize_variables local_variables local_variables_initializer model_variables "
        "moving_average_variables report_uninitialized_variables trainable_variables "
        "variables_initializer"
    ),
    "weft.ops.state.variable_scope": "AUTO_REUSE no_regularizer variable_op_scope variable_scope",
    "weft.ops.state.variable_store": (
        "disable_resource_variables enable_resource_variables resource_variables_enabled"
    ),
    "weft.ops.state.variables": "Variable",
    "weft.ops.strings.decode": "decode_raw",
    "weft.ops.strings.edit_distance": "edit_distance",
    "weft.ops.strings.hash": "fingerprint",
    "weft.ops.strings.serialized_tensors": "decode_json_example parse_tensor serialize_tensor",
}


def _read(table: dict[str, str]) -> list[tuple[str, str, str]]:
    """(public name, module, name there) of each."""
    found = []
    for home, names in table.items():
        for each in names.split():
            public, _, name = each.partition("=")
            found.append((public, home, name or public))
    return found


# Also read by packaging/stubs.
_PUBLIC = _read(_NAMESPACES) + _read(_NAMES)
_PLACES = {name: f"{home}.{there}" for name, home, there in _read(_NAMESPACES)}
_HOME = {name: (home, there) for name, home, there in _read(_NAMES)}
__all__ = sorted({*_PLACES, *_HOME})


def __getattr__(name: str) -> object:
    """A public name, which is there from then on."""
    if name not in _PLACES and name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    first_use.module("weft.api.groundwork")
    found: object
    if name in _PLACES:
        found = first_use.module(_PLACES[name])
    else:
        home, there = _HOME[name]
        found = getattr(first_use.module(home), there)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


public_modules.install({name: at for name, at in _PLACES.items() if at != f"weft.{name}"})
tracebacks.install()
