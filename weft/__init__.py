"""weft: TensorFlow 1 programs on NumPy and XLA. `import weft as tf`."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from tensorboard.compat.proto.attr_value_pb2 import (
    AttrValue as AttrValue,
    NameAttrList as NameAttrList,
)
from tensorboard.compat.proto.config_pb2 import (
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    GraphOptions as GraphOptions,
    OptimizerOptions as OptimizerOptions,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
)
from tensorboard.compat.proto.event_pb2 import (
    Event as Event,
    LogMessage as LogMessage,
    SessionLog as SessionLog,
)
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.histogram_pb2 import HistogramProto as HistogramProto
from tensorboard.compat.proto.meta_graph_pb2 import (
    MetaGraphDef as MetaGraphDef,
    TensorInfo as TensorInfo,
)
from tensorboard.compat.proto.node_def_pb2 import NodeDef as NodeDef
from tensorboard.compat.proto.summary_pb2 import (
    Summary as Summary,
    SummaryMetadata as SummaryMetadata,
)
from weft.autodiff.accumulate import AggregationMethod as AggregationMethod
from weft.autodiff.custom_gradient import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from weft.autodiff.gradients import (
    gradients as gradients,
    UnconnectedGradients as UnconnectedGradients,
)
from weft.autodiff.hessians import hessians as hessians
from weft.autodiff.registration import (
    NotDifferentiable as no_gradient,
    NoGradient as NoGradient,
    NotDifferentiable as NotDifferentiable,
    RegisterGradient as RegisterGradient,
)
from weft.autodiff.tape import GradientTape as GradientTape
from weft.client.session import (
    InteractiveSession as InteractiveSession,
    Session as Session,
)
from weft.core.device_name import DeviceSpec as DeviceSpec
from weft.core.dtypes import (
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex128 as complex128,
    complex64 as complex64,
    double as double,
    DType as DType,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    qint16 as qint16,
    qint32 as qint32,
    qint8 as qint8,
    QUANTIZED_DTYPES as QUANTIZED_DTYPES,
    quint16 as quint16,
    quint8 as quint8,
    resource as resource,
    string as string,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
    variant as variant,
)
from weft.core.errors import OpError as OpError
from weft.core.shapes import (
    Dimension as Dimension,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
    TensorShape as TensorShape,
)
from weft.lib.functions.batched import (
    nondifferentiable_batch_function as nondifferentiable_batch_function,
)
from weft.lib.functions.polymorphic import function as function
from weft.lib.functions.vectorized import vectorized_map as vectorized_map
from weft.lib.functions.wrap import wrap_function as wrap_function
from weft.graph.constant import constant as constant
from weft.graph.constant_value import get_static_value as get_static_value
from weft.graph.convert import (
    convert_to_tensor as convert_to_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from weft.graph.graph import (
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    colocate_with as colocate_with,
    container as container,
    control_dependencies as control_dependencies,
    device as device,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    Graph as Graph,
    init_scope as init_scope,
    name_scope as name_scope,
    op_scope as op_scope,
)
from weft.graph.importer import import_graph_def as import_graph_def
from weft.graph.keys import GraphKeys as GraphKeys
from weft.graph.operation import Operation as Operation
from weft.graph.random_seed import (
    get_seed as get_seed,
    set_random_seed as set_random_seed,
)
from weft.graph.slices import (
    convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
    IndexedSlices as IndexedSlices,
    SparseTensor as SparseTensor,
    SparseTensorValue as SparseTensorValue,
)
from weft.graph.stacks import (
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    reset_default_graph as reset_default_graph,
)
from weft.graph.tensor import Tensor as Tensor
from weft.graph.tensor_proto import (
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
from weft.graph.tensor_util import is_tensor as is_tensor
from weft.graph.type_spec import (
    IndexedSlicesSpec as IndexedSlicesSpec,
    SparseTensorSpec as SparseTensorSpec,
    TensorSpec as TensorSpec,
    TypeSpec as TypeSpec,
)
from weft.lib.linalg.dispatch import (
    cholesky as cholesky,
    matmul as matmul,
    matrix_determinant as matrix_determinant,
    matrix_diag_part as matrix_diag_part,
    matrix_inverse as matrix_inverse,
    matrix_solve as matrix_solve,
    trace as trace,
)
from weft.ops.nn.ctc import ctc_loss_v2 as ctc_loss_v2
from weft.ops.queues.accumulators import (
    ConditionalAccumulator as ConditionalAccumulator,
    ConditionalAccumulatorBase as ConditionalAccumulatorBase,
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from weft.ops.math.arg_extremes import (
    arg_max as arg_max,
    arg_min as arg_min,
    argmax as argmax,
    argmin as argmin,
)
from weft.ops.array.fill import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
    fill as fill,
    ones as ones,
    zeros as zeros,
)
from weft.ops.array.join import parallel_stack as parallel_stack
from weft.ops.array.pad import pad as pad
from weft.ops.array.placeholders import (
    ensure_shape as ensure_shape,
    guarantee_const as guarantee_const,
    identity_n as identity_n,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
    sparse_placeholder as sparse_placeholder,
    stop_gradient as stop_gradient,
)
from weft.ops.array.repeat import meshgrid as meshgrid, repeat as repeat
from weft.ops.array.reverse import (
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    reverse_v2 as reverse_v2,
    roll as roll,
)
from weft.ops.array.distinct import (
    setdiff1d as setdiff1d,
    unique as unique,
    unique_with_counts as unique_with_counts,
)
from weft.ops.array.shape import (
    invert_permutation as invert_permutation,
    matrix_transpose as matrix_transpose,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    transpose as transpose,
)
from weft.ops.array.split import split as split, unstack as unstack
from weft.ops.math.histogram import (
    bincount as bincount,
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from weft.ops.array.blocks import (
    batch_to_space as batch_to_space,
    batch_to_space_nd as batch_to_space_nd,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    space_to_batch as space_to_batch,
    space_to_batch_nd as space_to_batch_nd,
)
from weft.ops.control.case import case as case, switch_case as switch_case
from weft.ops.math.casts import (
    bitcast as bitcast,
    to_bfloat16 as to_bfloat16,
    to_complex128 as to_complex128,
    to_complex64 as to_complex64,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
)
from weft.ops.control.check import (
    add_check_numerics_ops as add_check_numerics_ops,
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    verify_tensor_all_finite as verify_tensor_all_finite,
)
from weft.ops.control.check_shapes import (
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
)
from weft.ops.control.check_types import (
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_type as assert_type,
    is_numeric_tensor as is_numeric_tensor,
)
from weft.ops.math.clip import (
    clip_by_average_norm as clip_by_average_norm,
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    global_norm as global_norm,
)
from weft.ops.control.clock import timestamp as timestamp
from weft.ops.control.cond import cond as cond
from weft.ops.scores.confusion_matrix import confusion_matrix as confusion_matrix
from weft.ops.control.control import (
    Assert as Assert,
    group as group,
    no_op as no_op,
    tuple_ as tuple,
)
from weft.ops.control.critical_section import CriticalSection as CriticalSection
from weft.ops.math.cumulative import cumprod as cumprod, cumsum as cumsum
from weft.ops.strings.decode import decode_raw as decode_raw
from weft.ops.array.depth_blocks import (
    depth_to_space as depth_to_space,
    space_to_depth as space_to_depth,
)
from weft.ops.array.diag import (
    diag as diag,
    diag_part as diag_part,
    matrix_band_part as matrix_band_part,
    matrix_diag as matrix_diag,
    matrix_set_diag as matrix_set_diag,
)
from weft.ops.kit.eager import executing_eagerly as executing_eagerly
from weft.ops.strings.edit_distance import edit_distance as edit_distance
from weft.ops.math.einsum import einsum as einsum
from weft.ops.math.elementwise import floor_div as floor_div
from weft.ops.quantized.fake_quant import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft.ops.functions.functional import foldl as foldl, foldr as foldr, scan as scan
from weft.ops.array.gather import sparse_mask as sparse_mask
from weft.ops.state.get_variable import (
    get_local_variable as get_local_variable,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    VariableScope as VariableScope,
)
from weft.ops.state.initializers import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from weft.ops.linalg.linalg import (
    matrix_solve_ls as matrix_solve_ls,
    matrix_square_root as matrix_square_root,
    matrix_triangular_solve as matrix_triangular_solve,
    norm as norm,
    qr as qr,
    self_adjoint_eig as self_adjoint_eig,
    self_adjoint_eigvals as self_adjoint_eigvals,
    svd as svd,
)
from weft.ops.lookup.tables import (
    initialize_all_tables as initialize_all_tables,
    tables_initializer as tables_initializer,
)
from weft.ops.math.math import (
    accumulate_n as accumulate_n,
    lbeta as lbeta,
    scalar_mul as scalar_mul,
    sigmoid as sigmoid,
)
from weft.ops.math.matmul import (
    cross as cross,
    sparse_matmul as sparse_matmul,
    tensordot as tensordot,
)
from weft.ops.linalg.matrices import eye as eye
from weft.ops.parsing.csv import decode_csv as decode_csv
from weft.ops.parsing.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from weft.ops.parsing.sequence import parse_single_sequence_example as parse_single_sequence_example
from weft.ops.strings.serialized_tensors import (
    decode_json_example as decode_json_example,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from weft.ops.array.partition import dynamic_stitch as dynamic_stitch
from weft.ops.state.partitioners import (
    create_partitioned_variables as create_partitioned_variables,
    fixed_size_partitioner as fixed_size_partitioner,
    min_max_variable_partitioner as min_max_variable_partitioner,
    variable_axis_size_partitioner as variable_axis_size_partitioner,
)
from weft.ops.array.patches import (
    extract_image_patches as extract_image_patches,
    extract_volume_patches as extract_volume_patches,
)
from weft.ops.control.printing import Print as Print, print_v2 as print
from weft.ops.functions.py_func import (
    numpy_function as numpy_function,
    py_func as py_func,
    py_function as py_function,
)
from weft.ops.quantized.quantize import (
    dequantize as dequantize,
    quantize as quantize,
    quantize_v2 as quantize_v2,
)
from weft.ops.quantized.arithmetic import quantized_concat as quantized_concat
from weft.ops.queues.queues import (
    FIFOQueue as FIFOQueue,
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)
from weft.ops.random.random import (
    multinomial as multinomial,
    random_crop as random_crop,
    random_gamma as random_gamma,
    random_normal as random_normal,
    random_poisson as random_poisson,
    random_shuffle as random_shuffle,
    random_uniform as random_uniform,
    truncated_normal as truncated_normal,
)
from weft.ops.queues.readers import (
    FixedLengthRecordReader as FixedLengthRecordReader,
    IdentityReader as IdentityReader,
    LMDBReader as LMDBReader,
    matching_files as matching_files,
    read_file as read_file,
    ReaderBase as ReaderBase,
    TextLineReader as TextLineReader,
    TFRecordReader as TFRecordReader,
    WholeFileReader as WholeFileReader,
    write_file as write_file,
)
from weft.ops.math.reduce import (
    count_nonzero as count_nonzero,
    reduce_logsumexp as reduce_logsumexp,
)
from weft.ops.array.scatter import (
    scatter_nd as scatter_nd,
    tensor_scatter_add as tensor_scatter_add,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
    tensor_scatter_sub as tensor_scatter_sub,
    tensor_scatter_update as tensor_scatter_update,
)
from weft.ops.math.segment import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
)
from weft.ops.math.segment_sparse import (
    sparse_segment_mean as sparse_segment_mean,
    sparse_segment_sqrt_n as sparse_segment_sqrt_n,
    sparse_segment_sum as sparse_segment_sum,
)
from weft.ops.array.one_hot_search import (
    boolean_mask as boolean_mask,
    searchsorted as searchsorted,
    sequence_mask as sequence_mask,
    unravel_index as unravel_index,
    where_v2 as where_v2,
)
from weft.ops.math.sequence import lin_space as lin_space, linspace as linspace, range as range
from weft.ops.state.session_tensors import (
    delete_session_tensor as delete_session_tensor,
    get_session_handle as get_session_handle,
    get_session_tensor as get_session_tensor,
)
from weft.ops.array.slicing import slice as slice
from weft.ops.linalg.solve import cholesky_solve as cholesky_solve
from weft.ops.math.sort import argsort as argsort, sort as sort
from weft.ops.sparse.to_dense import sparse_to_dense as sparse_to_dense
from weft.ops.sparse.add import sparse_add as sparse_add
from weft.ops.sparse.convert import (
    sparse_maximum as sparse_maximum,
    sparse_minimum as sparse_minimum,
    sparse_reduce_max as sparse_reduce_max,
    sparse_reduce_max_sparse as sparse_reduce_max_sparse,
    sparse_reduce_sum as sparse_reduce_sum,
    sparse_reduce_sum_sparse as sparse_reduce_sum_sparse,
    sparse_softmax as sparse_softmax,
    sparse_tensor_to_dense as sparse_tensor_to_dense,
    sparse_to_indicator as sparse_to_indicator,
)
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from weft.ops.sparse.select import (
    sparse_concat as sparse_concat,
    sparse_fill_empty_rows as sparse_fill_empty_rows,
    sparse_merge as sparse_merge,
    sparse_reorder as sparse_reorder,
    sparse_reset_shape as sparse_reset_shape,
    sparse_reshape as sparse_reshape,
    sparse_retain as sparse_retain,
    sparse_slice as sparse_slice,
    sparse_split as sparse_split,
    sparse_transpose as sparse_transpose,
)
from weft.ops.sparse.serialize import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from weft.ops.math.special import (
    betainc as betainc,
    igamma as igamma,
    igammac as igammac,
    polygamma as polygamma,
    zeta as zeta,
)
from weft.ops.array.strided import newaxis as newaxis, strided_slice as strided_slice
from weft.ops.strings.hash import fingerprint as fingerprint
from weft.ops.state.template import make_template as make_template
from weft.ops.lists.tensor_array import TensorArray as TensorArray
from weft.ops.lists.tensor_array_spec import TensorArraySpec as TensorArraySpec
from weft.ops.math.unary import tanh as tanh
from weft.ops.state.updates import (
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    batch_scatter_update as batch_scatter_update,
    count_up_to as count_up_to,
    is_variable_initialized as is_variable_initialized,
    scatter_add as scatter_add,
    scatter_div as scatter_div,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
    scatter_nd_add as scatter_nd_add,
    scatter_nd_sub as scatter_nd_sub,
    scatter_nd_update as scatter_nd_update,
    scatter_sub as scatter_sub,
    scatter_update as scatter_update,
)
from weft.ops.state.variable_creators import variable_creator_scope as variable_creator_scope
from weft.ops.state.variable_def import (
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from weft.ops.state.variable_lists import (
    all_variables as all_variables,
    assert_variables_initialized as assert_variables_initialized,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    initialize_all_variables as initialize_all_variables,
    initialize_local_variables as initialize_local_variables,
    initialize_variables as initialize_variables,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    report_uninitialized_variables as report_uninitialized_variables,
    trainable_variables as trainable_variables,
    variables_initializer as variables_initializer,
)
from weft.ops.state.variable_scope import (
    AUTO_REUSE as AUTO_REUSE,
    no_regularizer as no_regularizer,
    variable_op_scope as variable_op_scope,
    variable_scope as variable_scope,
)
from weft.ops.state.variable_store import (
    disable_resource_variables as disable_resource_variables,
    enable_resource_variables as enable_resource_variables,
    resource_variables_enabled as resource_variables_enabled,
)
from weft.ops.state.variables import Variable as Variable
from weft.ops.control.while_loop import while_loop as while_loop
from weft.lib.platform.behavior import (
    control_flow_v2_enabled as control_flow_v2_enabled,
    disable_control_flow_v2 as disable_control_flow_v2,
    disable_eager_execution as disable_eager_execution,
    disable_tensor_equality as disable_tensor_equality,
    disable_v2_behavior as disable_v2_behavior,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_control_flow_v2 as enable_control_flow_v2,
    enable_eager_execution as enable_eager_execution,
    enable_tensor_equality as enable_tensor_equality,
    enable_v2_behavior as enable_v2_behavior,
    enable_v2_tensorshape as enable_v2_tensorshape,
)
from weft.lib.platform.load_library import (
    load_file_system_library as load_file_system_library,
    load_library as load_library,
    load_op_library as load_op_library,
)
from weft.lib.platform.module import Module as Module
from weft.lib.platform.tf_logging import get_logger as get_logger
from weft.lib.platform.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
    CXX11_ABI_FLAG as CXX11_ABI_FLAG,
    GIT_VERSION as GIT_VERSION,
    GRAPH_DEF_VERSION as GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD as MONOLITHIC_BUILD,
    VERSION as VERSION,
)
from weft.lib.ragged.dispatched import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    add_n as add_n,
    angle as angle,
    as_string as as_string,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    batch_gather as batch_gather,
    cast as cast,
    ceil as ceil,
    check_numerics as check_numerics,
    clip_by_value as clip_by_value,
    complex as complex,
    concat as concat,
    conj as conj,
    cos as cos,
    cosh as cosh,
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    digamma as digamma,
    div as div,
    div_no_nan as div_no_nan,
    divide as divide,
    dynamic_partition as dynamic_partition,
    encode_base64 as encode_base64,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expand_dims as expand_dims,
    expm1 as expm1,
    floor as floor,
    floordiv as floordiv,
    floormod as floormod,
    gather as gather,
    gather_nd as gather_nd,
    greater as greater,
    greater_equal as greater_equal,
    identity as identity,
    imag as imag,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    floormod as mod,
    multiply as multiply,
    _function as negative,
    not_equal as not_equal,
    one_hot as one_hot,
    ones_like as ones_like,
    pow as pow,
    rank as rank,
    real as real,
    realdiv as realdiv,
    reciprocal as reciprocal,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_join as reduce_join,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    regex_replace as regex_replace,
    rint as rint,
    round as round,
    rsqrt as rsqrt,
    saturate_cast as saturate_cast,
    sign as sign,
    sin as sin,
    sinh as sinh,
    size as size,
    sqrt as sqrt,
    square as square,
    squared_difference as squared_difference,
    squeeze as squeeze,
    stack as stack,
    string_join as string_join,
    string_strip as string_strip,
    string_to_hash_bucket as string_to_hash_bucket,
    string_to_hash_bucket_fast as string_to_hash_bucket_fast,
    string_to_hash_bucket_strong as string_to_hash_bucket_strong,
    string_to_number as string_to_number,
    substr as substr,
    subtract as subtract,
    tan as tan,
    tile as tile,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
    where as where,
    zeros_like as zeros_like,
)
from weft.lib.ragged.map_rows import map_fn as map_fn
from weft.lib.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from weft.lib.ragged.strings import string_split as string_split
from weft.lib.ragged.tensor import RaggedTensor as RaggedTensor
from weft.lib.signal import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
)
from weft.protos import docs as _docs  # says what the messages are
from weft.api import public_modules
from weft.api import app as app
from weft.api import audio as audio
from weft.api import bitwise as bitwise
from weft.api import compat as compat
from weft.api import config as config
from weft.api import debugging as debugging
from weft.api import dtypes as dtypes
from weft.core import errors as errors
from weft.lib.platform import flags as flags
from weft.api import gfile as gfile
from weft.api import graph_util as graph_util
from weft.api import image as image
from weft.api import initializers as initializers
from weft.api import io as io
from weft.api import linalg as linalg
from weft.api import logging as logging
from weft.api import lookup as lookup
from weft.api import losses as losses
from weft.api import manip as manip
from weft.api import math as math
from weft.api import metrics as metrics
from weft.core import nest as nest
from weft.api import nn as nn
from weft.api import python_io as python_io
from weft.api import quantization as quantization
from weft.api import queue as queue
from weft.api import ragged as ragged
from weft.api import random as random
from weft.api import resource_loader as resource_loader
from weft.api import sets as sets
from weft.api import signal as signal
from weft.api import sparse as sparse
from weft.api import spectral as spectral
from weft.api import strings as strings
from weft.api import summary as summary
from weft.api import sysconfig as sysconfig
from weft.api import version as version
from weft.graph.op_def import raw as raw_ops
from weft.lib.platform.versions import (
    __compiler_version__ as __compiler_version__,
    __cxx11_abi_flag__ as __cxx11_abi_flag__,
    __git_version__ as __git_version__,
    __monolithic_build__ as __monolithic_build__,
    __version__ as __version__,
)

if TYPE_CHECKING:
    from weft.lib import autograph as autograph
    from weft.lib import contrib as contrib
    from weft.api import data as data
    from weft.api import distribute as distribute
    from weft.api import distributions as distributions
    from weft.api import estimator as estimator
    from weft.legacy import examples as examples
    from weft.api import feature_column as feature_column
    from weft.api import keras as keras
    from weft.api import layers as layers
    from weft.api import profiler as profiler
    from weft.legacy import python as python
    from weft.api import saved_model as saved_model
    from weft.api import test as test
    from weft.api import train as train
    from weft.api import tpu as tpu
    from weft.api import xla as xla
    from weft.lib.data.optional import OptionalSpec as OptionalSpec

# What is large, and not used by every program: where it is.
_LATER = {
    "autograph": "weft.lib.autograph",
    "contrib": "weft.lib.contrib",
    "data": "weft.api.data",
    "distribute": "weft.api.distribute",
    "distributions": "weft.api.distributions",
    "estimator": "weft.api.estimator",
    "examples": "weft.legacy.examples",
    "feature_column": "weft.api.feature_column",
    "keras": "weft.api.keras",
    "layers": "weft.api.layers",
    "profiler": "weft.api.profiler",
    "python": "weft.legacy.python",
    "saved_model": "weft.api.saved_model",
    "test": "weft.api.test",
    "train": "weft.api.train",
    "tpu": "weft.api.tpu",
    "xla": "weft.api.xla",
}
_LATER_NAMES = {
    "OptionalSpec": "weft.lib.data.optional",
}
# Where each public namespace is made.
_PLACES = {
    name: value.__name__ for name, value in globals().items() if isinstance(value, ModuleType)
}
public_modules.install(
    {name: place for name, place in (_PLACES | _LATER).items() if place != f"weft.{name}"}
)
importlib.import_module("weft.core.tracebacks").install()


def __getattr__(name: str) -> object:
    """What is large, and not used by every program, is imported when it is first used."""
    if name in _LATER:
        found: object = importlib.import_module(_LATER[name])
    elif name in _LATER_NAMES:
        found = getattr(importlib.import_module(_LATER_NAMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_LATER_NAMES})
