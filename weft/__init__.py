"""weft: TensorFlow 1 programs on NumPy and XLA. `import weft as tf`."""

from tensorboard.compat.proto.attr_value_pb2 import (
    AttrValue as AttrValue,
)
from tensorboard.compat.proto.attr_value_pb2 import (
    NameAttrList as NameAttrList,
)
from tensorboard.compat.proto.config_pb2 import (
    ConfigProto as ConfigProto,
)
from tensorboard.compat.proto.config_pb2 import (
    GPUOptions as GPUOptions,
)
from tensorboard.compat.proto.config_pb2 import (
    GraphOptions as GraphOptions,
)
from tensorboard.compat.proto.config_pb2 import (
    OptimizerOptions as OptimizerOptions,
)
from tensorboard.compat.proto.config_pb2 import (
    RunMetadata as RunMetadata,
)
from tensorboard.compat.proto.config_pb2 import (
    RunOptions as RunOptions,
)
from tensorboard.compat.proto.event_pb2 import (
    Event as Event,
)
from tensorboard.compat.proto.event_pb2 import (
    LogMessage as LogMessage,
)
from tensorboard.compat.proto.event_pb2 import (
    SessionLog as SessionLog,
)
from tensorboard.compat.proto.graph_pb2 import (
    GraphDef as GraphDef,
)
from tensorboard.compat.proto.histogram_pb2 import (
    HistogramProto as HistogramProto,
)
from tensorboard.compat.proto.meta_graph_pb2 import (
    MetaGraphDef as MetaGraphDef,
)
from tensorboard.compat.proto.meta_graph_pb2 import (
    TensorInfo as TensorInfo,
)
from tensorboard.compat.proto.node_def_pb2 import (
    NodeDef as NodeDef,
)
from tensorboard.compat.proto.summary_pb2 import (
    Summary as Summary,
)
from tensorboard.compat.proto.summary_pb2 import (
    SummaryMetadata as SummaryMetadata,
)

from weft.api import app as app
from weft.api import audio as audio
from weft.api import bitwise as bitwise
from weft.api import debugging as debugging
from weft.api import dtypes as dtypes
from weft.api import gfile as gfile
from weft.api import graph_util as graph_util
from weft.api import image as image
from weft.api import initializers as initializers
from weft.api import io as io
from weft.api import layers as layers
from weft.api import linalg as linalg
from weft.api import logging as logging
from weft.api import lookup as lookup
from weft.api import losses as losses
from weft.api import manip as manip
from weft.api import math as math
from weft.api import metrics as metrics
from weft.api import nn as nn
from weft.api import python_io as python_io
from weft.api import quantization as quantization
from weft.api import queue as queue
from weft.api import random as random
from weft.api import resource_loader as resource_loader
from weft.api import sparse as sparse
from weft.api import strings as strings
from weft.api import summary as summary
from weft.api import sysconfig as sysconfig
from weft.api import train as train
from weft.api import version as version
from weft.autodiff.accumulate import (
    AggregationMethod as AggregationMethod,
)
from weft.autodiff.custom_gradient import (
    custom_gradient as custom_gradient,
)
from weft.autodiff.custom_gradient import (
    grad_pass_through as grad_pass_through,
)
from weft.autodiff.custom_gradient import (
    recompute_grad as recompute_grad,
)
from weft.autodiff.gradients import (
    UnconnectedGradients as UnconnectedGradients,
)
from weft.autodiff.gradients import (
    gradients as gradients,
)
from weft.autodiff.gradients import (
    hessians as hessians,
)
from weft.autodiff.registration import (
    NoGradient as NoGradient,
)
from weft.autodiff.registration import (
    NotDifferentiable as NotDifferentiable,
)
from weft.autodiff.registration import (
    RegisterGradient as RegisterGradient,
)
from weft.client.session import (
    InteractiveSession as InteractiveSession,
)
from weft.client.session import (
    Session as Session,
)
from weft.core import errors as errors
from weft.core import nest as nest
from weft.core.device_name import (
    DeviceSpec as DeviceSpec,
)
from weft.core.dtypes import (
    QUANTIZED_DTYPES as QUANTIZED_DTYPES,
)
from weft.core.dtypes import (
    DType as DType,
)
from weft.core.dtypes import (
    as_dtype as as_dtype,
)
from weft.core.dtypes import (
    bfloat16 as bfloat16,
)
from weft.core.dtypes import (
    bool as bool,
)
from weft.core.dtypes import (
    complex64 as complex64,
)
from weft.core.dtypes import (
    complex128 as complex128,
)
from weft.core.dtypes import (
    double as double,
)
from weft.core.dtypes import (
    float16 as float16,
)
from weft.core.dtypes import (
    float32 as float32,
)
from weft.core.dtypes import (
    float64 as float64,
)
from weft.core.dtypes import (
    half as half,
)
from weft.core.dtypes import (
    int8 as int8,
)
from weft.core.dtypes import (
    int16 as int16,
)
from weft.core.dtypes import (
    int32 as int32,
)
from weft.core.dtypes import (
    int64 as int64,
)
from weft.core.dtypes import (
    qint8 as qint8,
)
from weft.core.dtypes import (
    qint16 as qint16,
)
from weft.core.dtypes import (
    qint32 as qint32,
)
from weft.core.dtypes import (
    quint8 as quint8,
)
from weft.core.dtypes import (
    quint16 as quint16,
)
from weft.core.dtypes import (
    resource as resource,
)
from weft.core.dtypes import (
    string as string,
)
from weft.core.dtypes import (
    uint8 as uint8,
)
from weft.core.dtypes import (
    uint16 as uint16,
)
from weft.core.dtypes import (
    uint32 as uint32,
)
from weft.core.dtypes import (
    uint64 as uint64,
)
from weft.core.dtypes import (
    variant as variant,
)
from weft.core.errors import (
    OpError as OpError,
)
from weft.core.shapes import (
    Dimension as Dimension,
)
from weft.core.shapes import (
    TensorShape as TensorShape,
)
from weft.core.shapes import (
    dimension_at_index as dimension_at_index,
)
from weft.core.shapes import (
    dimension_value as dimension_value,
)
from weft.graph.constant import (
    constant as constant,
)
from weft.graph.constant_value import (
    get_static_value as get_static_value,
)
from weft.graph.convert import (
    convert_to_tensor as convert_to_tensor,
)
from weft.graph.convert import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from weft.graph.graph import (
    Graph as Graph,
)
from weft.graph.graph import (
    add_to_collection as add_to_collection,
)
from weft.graph.graph import (
    add_to_collections as add_to_collections,
)
from weft.graph.graph import (
    colocate_with as colocate_with,
)
from weft.graph.graph import (
    container as container,
)
from weft.graph.graph import (
    control_dependencies as control_dependencies,
)
from weft.graph.graph import (
    device as device,
)
from weft.graph.graph import (
    get_collection as get_collection,
)
from weft.graph.graph import (
    get_collection_ref as get_collection_ref,
)
from weft.graph.graph import (
    init_scope as init_scope,
)
from weft.graph.graph import (
    name_scope as name_scope,
)
from weft.graph.graph import (
    op_scope as op_scope,
)
from weft.graph.importer import (
    import_graph_def as import_graph_def,
)
from weft.graph.keys import (
    GraphKeys as GraphKeys,
)
from weft.graph.op_def import raw as raw_ops
from weft.graph.operation import (
    Operation as Operation,
)
from weft.graph.random_seed import (
    get_seed as get_seed,
)
from weft.graph.random_seed import (
    set_random_seed as set_random_seed,
)
from weft.graph.slices import (
    IndexedSlices as IndexedSlices,
)
from weft.graph.slices import (
    SparseTensor as SparseTensor,
)
from weft.graph.slices import (
    SparseTensorValue as SparseTensorValue,
)
from weft.graph.slices import (
    convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices,
)
from weft.graph.slices import (
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
)
from weft.graph.stacks import (
    get_default_graph as get_default_graph,
)
from weft.graph.stacks import (
    get_default_session as get_default_session,
)
from weft.graph.stacks import (
    reset_default_graph as reset_default_graph,
)
from weft.graph.tensor import (
    Tensor as Tensor,
)
from weft.graph.tensor_proto import (
    make_ndarray as make_ndarray,
)
from weft.graph.tensor_proto import (
    make_tensor_proto as make_tensor_proto,
)
from weft.graph.tensor_util import (
    is_tensor as is_tensor,
)
from weft.graph.type_spec import (
    IndexedSlicesSpec as IndexedSlicesSpec,
)
from weft.graph.type_spec import (
    SparseTensorSpec as SparseTensorSpec,
)
from weft.graph.type_spec import (
    TensorSpec as TensorSpec,
)
from weft.graph.type_spec import (
    TypeSpec as TypeSpec,
)
from weft.linalg.dispatch import (
    cholesky as cholesky,
)
from weft.linalg.dispatch import (
    matmul as matmul,
)
from weft.linalg.dispatch import (
    matrix_determinant as matrix_determinant,
)
from weft.linalg.dispatch import (
    matrix_diag_part as matrix_diag_part,
)
from weft.linalg.dispatch import (
    matrix_inverse as matrix_inverse,
)
from weft.linalg.dispatch import (
    matrix_solve as matrix_solve,
)
from weft.linalg.dispatch import (
    trace as trace,
)
from weft.ops.accumulators import (
    ConditionalAccumulator as ConditionalAccumulator,
)
from weft.ops.accumulators import (
    ConditionalAccumulatorBase as ConditionalAccumulatorBase,
)
from weft.ops.accumulators import (
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from weft.ops.array_fill import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
)
from weft.ops.array_fill import (
    broadcast_static_shape as broadcast_static_shape,
)
from weft.ops.array_fill import (
    broadcast_to as broadcast_to,
)
from weft.ops.array_fill import (
    fill as fill,
)
from weft.ops.array_fill import (
    ones as ones,
)
from weft.ops.array_fill import (
    ones_like as ones_like,
)
from weft.ops.array_fill import (
    zeros as zeros,
)
from weft.ops.array_fill import (
    zeros_like as zeros_like,
)
from weft.ops.array_join import (
    concat as concat,
)
from weft.ops.array_join import (
    parallel_stack as parallel_stack,
)
from weft.ops.array_join import (
    split as split,
)
from weft.ops.array_join import (
    stack as stack,
)
from weft.ops.array_join import (
    unstack as unstack,
)
from weft.ops.array_pad import (
    meshgrid as meshgrid,
)
from weft.ops.array_pad import (
    pad as pad,
)
from weft.ops.array_pad import (
    repeat as repeat,
)
from weft.ops.array_pad import (
    reverse as reverse,
)
from weft.ops.array_pad import (
    reverse_sequence as reverse_sequence,
)
from weft.ops.array_pad import (
    reverse_v2 as reverse_v2,
)
from weft.ops.array_pad import (
    roll as roll,
)
from weft.ops.array_pad import (
    tile as tile,
)
from weft.ops.array_pass import (
    check_numerics as check_numerics,
)
from weft.ops.array_pass import (
    ensure_shape as ensure_shape,
)
from weft.ops.array_pass import (
    guarantee_const as guarantee_const,
)
from weft.ops.array_pass import (
    identity as identity,
)
from weft.ops.array_pass import (
    identity_n as identity_n,
)
from weft.ops.array_pass import (
    placeholder as placeholder,
)
from weft.ops.array_pass import (
    placeholder_with_default as placeholder_with_default,
)
from weft.ops.array_pass import (
    sparse_placeholder as sparse_placeholder,
)
from weft.ops.array_pass import (
    stop_gradient as stop_gradient,
)
from weft.ops.array_sets import (
    setdiff1d as setdiff1d,
)
from weft.ops.array_sets import (
    unique as unique,
)
from weft.ops.array_sets import (
    unique_with_counts as unique_with_counts,
)
from weft.ops.array_shape import (
    expand_dims as expand_dims,
)
from weft.ops.array_shape import (
    invert_permutation as invert_permutation,
)
from weft.ops.array_shape import (
    matrix_transpose as matrix_transpose,
)
from weft.ops.array_shape import (
    rank as rank,
)
from weft.ops.array_shape import (
    reshape as reshape,
)
from weft.ops.array_shape import (
    shape as shape,
)
from weft.ops.array_shape import (
    shape_n as shape_n,
)
from weft.ops.array_shape import (
    size as size,
)
from weft.ops.array_shape import (
    squeeze as squeeze,
)
from weft.ops.array_shape import (
    transpose as transpose,
)
from weft.ops.bins import (
    bincount as bincount,
)
from weft.ops.bins import (
    histogram_fixed_width as histogram_fixed_width,
)
from weft.ops.bins import (
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from weft.ops.blocks import (
    batch_to_space as batch_to_space,
)
from weft.ops.blocks import (
    batch_to_space_nd as batch_to_space_nd,
)
from weft.ops.blocks import (
    depth_to_space as depth_to_space,
)
from weft.ops.blocks import (
    extract_image_patches as extract_image_patches,
)
from weft.ops.blocks import (
    extract_volume_patches as extract_volume_patches,
)
from weft.ops.blocks import (
    required_space_to_batch_paddings as required_space_to_batch_paddings,
)
from weft.ops.blocks import (
    space_to_batch as space_to_batch,
)
from weft.ops.blocks import (
    space_to_batch_nd as space_to_batch_nd,
)
from weft.ops.blocks import (
    space_to_depth as space_to_depth,
)
from weft.ops.case import (
    case as case,
)
from weft.ops.case import (
    switch_case as switch_case,
)
from weft.ops.casts import (
    angle as angle,
)
from weft.ops.casts import (
    bitcast as bitcast,
)
from weft.ops.casts import (
    cast as cast,
)
from weft.ops.casts import (
    complex as complex,
)
from weft.ops.casts import (
    conj as conj,
)
from weft.ops.casts import (
    imag as imag,
)
from weft.ops.casts import (
    real as real,
)
from weft.ops.casts import (
    saturate_cast as saturate_cast,
)
from weft.ops.casts import (
    to_bfloat16 as to_bfloat16,
)
from weft.ops.casts import (
    to_complex64 as to_complex64,
)
from weft.ops.casts import (
    to_complex128 as to_complex128,
)
from weft.ops.casts import (
    to_double as to_double,
)
from weft.ops.casts import (
    to_float as to_float,
)
from weft.ops.casts import (
    to_int32 as to_int32,
)
from weft.ops.casts import (
    to_int64 as to_int64,
)
from weft.ops.check import (
    add_check_numerics_ops as add_check_numerics_ops,
)
from weft.ops.check import (
    assert_equal as assert_equal,
)
from weft.ops.check import (
    assert_greater as assert_greater,
)
from weft.ops.check import (
    assert_greater_equal as assert_greater_equal,
)
from weft.ops.check import (
    assert_less as assert_less,
)
from weft.ops.check import (
    assert_less_equal as assert_less_equal,
)
from weft.ops.check import (
    assert_near as assert_near,
)
from weft.ops.check import (
    assert_negative as assert_negative,
)
from weft.ops.check import (
    assert_non_negative as assert_non_negative,
)
from weft.ops.check import (
    assert_non_positive as assert_non_positive,
)
from weft.ops.check import (
    assert_none_equal as assert_none_equal,
)
from weft.ops.check import (
    assert_positive as assert_positive,
)
from weft.ops.check import (
    is_non_decreasing as is_non_decreasing,
)
from weft.ops.check import (
    is_strictly_increasing as is_strictly_increasing,
)
from weft.ops.check import (
    verify_tensor_all_finite as verify_tensor_all_finite,
)
from weft.ops.check_shapes import (
    assert_rank as assert_rank,
)
from weft.ops.check_shapes import (
    assert_rank_at_least as assert_rank_at_least,
)
from weft.ops.check_shapes import (
    assert_rank_in as assert_rank_in,
)
from weft.ops.check_shapes import (
    assert_scalar as assert_scalar,
)
from weft.ops.check_types import (
    assert_integer as assert_integer,
)
from weft.ops.check_types import (
    assert_proper_iterable as assert_proper_iterable,
)
from weft.ops.check_types import (
    assert_same_float_dtype as assert_same_float_dtype,
)
from weft.ops.check_types import (
    assert_type as assert_type,
)
from weft.ops.check_types import (
    is_numeric_tensor as is_numeric_tensor,
)
from weft.ops.clip import (
    clip_by_average_norm as clip_by_average_norm,
)
from weft.ops.clip import (
    clip_by_global_norm as clip_by_global_norm,
)
from weft.ops.clip import (
    clip_by_norm as clip_by_norm,
)
from weft.ops.clip import (
    clip_by_value as clip_by_value,
)
from weft.ops.clip import (
    global_norm as global_norm,
)
from weft.ops.clock import (
    timestamp as timestamp,
)
from weft.ops.cond import (
    cond as cond,
)
from weft.ops.confusion_matrix import (
    confusion_matrix as confusion_matrix,
)
from weft.ops.control import (
    Assert as Assert,
)
from weft.ops.control import (
    Print as Print,
)
from weft.ops.control import (
    group as group,
)
from weft.ops.control import (
    no_op as no_op,
)
from weft.ops.control import (
    numpy_function as numpy_function,
)
from weft.ops.control import (
    py_func as py_func,
)
from weft.ops.control import (
    tuple_ as tuple,
)
from weft.ops.critical_section import (
    CriticalSection as CriticalSection,
)
from weft.ops.decode import (
    decode_base64 as decode_base64,
)
from weft.ops.decode import (
    decode_compressed as decode_compressed,
)
from weft.ops.decode import (
    decode_raw as decode_raw,
)
from weft.ops.decode import (
    encode_base64 as encode_base64,
)
from weft.ops.diag import (
    diag as diag,
)
from weft.ops.diag import (
    diag_part as diag_part,
)
from weft.ops.diag import (
    matrix_band_part as matrix_band_part,
)
from weft.ops.diag import (
    matrix_diag as matrix_diag,
)
from weft.ops.diag import (
    matrix_set_diag as matrix_set_diag,
)
from weft.ops.edit_distance import (
    edit_distance as edit_distance,
)
from weft.ops.elementwise import (
    add as add,
)
from weft.ops.elementwise import (
    atan2 as atan2,
)
from weft.ops.elementwise import (
    equal as equal,
)
from weft.ops.elementwise import (
    floor_div as floor_div,
)
from weft.ops.elementwise import (
    floormod as floormod,
)
from weft.ops.elementwise import (
    greater as greater,
)
from weft.ops.elementwise import (
    greater_equal as greater_equal,
)
from weft.ops.elementwise import (
    less as less,
)
from weft.ops.elementwise import (
    less_equal as less_equal,
)
from weft.ops.elementwise import (
    logical_and as logical_and,
)
from weft.ops.elementwise import (
    logical_or as logical_or,
)
from weft.ops.elementwise import (
    maximum as maximum,
)
from weft.ops.elementwise import (
    minimum as minimum,
)
from weft.ops.elementwise import (
    mod as mod,
)
from weft.ops.elementwise import (
    multiply as multiply,
)
from weft.ops.elementwise import (
    no_gradient as no_gradient,
)
from weft.ops.elementwise import (
    not_equal as not_equal,
)
from weft.ops.elementwise import (
    realdiv as realdiv,
)
from weft.ops.elementwise import (
    squared_difference as squared_difference,
)
from weft.ops.elementwise import (
    subtract as subtract,
)
from weft.ops.elementwise import (
    truncatediv as truncatediv,
)
from weft.ops.elementwise import (
    truncatemod as truncatemod,
)
from weft.ops.functional import (
    foldl as foldl,
)
from weft.ops.functional import (
    foldr as foldr,
)
from weft.ops.functional import (
    map_fn as map_fn,
)
from weft.ops.functional import (
    scan as scan,
)
from weft.ops.gather import (
    batch_gather as batch_gather,
)
from weft.ops.gather import (
    gather as gather,
)
from weft.ops.gather import (
    gather_nd as gather_nd,
)
from weft.ops.gather import (
    sparse_mask as sparse_mask,
)
from weft.ops.initializers import (
    constant_initializer as constant_initializer,
)
from weft.ops.initializers import (
    glorot_normal_initializer as glorot_normal_initializer,
)
from weft.ops.initializers import (
    glorot_uniform_initializer as glorot_uniform_initializer,
)
from weft.ops.initializers import (
    ones_initializer as ones_initializer,
)
from weft.ops.initializers import (
    orthogonal_initializer as orthogonal_initializer,
)
from weft.ops.initializers import (
    random_normal_initializer as random_normal_initializer,
)
from weft.ops.initializers import (
    random_uniform_initializer as random_uniform_initializer,
)
from weft.ops.initializers import (
    truncated_normal_initializer as truncated_normal_initializer,
)
from weft.ops.initializers import (
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
)
from weft.ops.initializers import (
    variance_scaling_initializer as variance_scaling_initializer,
)
from weft.ops.initializers import (
    zeros_initializer as zeros_initializer,
)
from weft.ops.linalg import (
    matrix_solve_ls as matrix_solve_ls,
)
from weft.ops.linalg import (
    matrix_square_root as matrix_square_root,
)
from weft.ops.linalg import (
    matrix_triangular_solve as matrix_triangular_solve,
)
from weft.ops.linalg import (
    norm as norm,
)
from weft.ops.linalg import (
    qr as qr,
)
from weft.ops.linalg import (
    self_adjoint_eig as self_adjoint_eig,
)
from weft.ops.linalg import (
    self_adjoint_eigvals as self_adjoint_eigvals,
)
from weft.ops.linalg import (
    svd as svd,
)
from weft.ops.lookup import (
    initialize_all_tables as initialize_all_tables,
)
from weft.ops.lookup import (
    tables_initializer as tables_initializer,
)
from weft.ops.math import (
    abs as abs,
)
from weft.ops.math import (
    accumulate_n as accumulate_n,
)
from weft.ops.math import (
    add_n as add_n,
)
from weft.ops.math import (
    div as div,
)
from weft.ops.math import (
    div_no_nan as div_no_nan,
)
from weft.ops.math import (
    divide as divide,
)
from weft.ops.math import (
    floordiv as floordiv,
)
from weft.ops.math import (
    lbeta as lbeta,
)
from weft.ops.math import (
    log_sigmoid as log_sigmoid,
)
from weft.ops.math import (
    logical_xor as logical_xor,
)
from weft.ops.math import (
    pow as pow,
)
from weft.ops.math import (
    round as round,
)
from weft.ops.math import (
    scalar_mul as scalar_mul,
)
from weft.ops.math import (
    sigmoid as sigmoid,
)
from weft.ops.math import (
    truediv as truediv,
)
from weft.ops.matmul import (
    cross as cross,
)
from weft.ops.matmul import (
    einsum as einsum,
)
from weft.ops.matmul import (
    sparse_matmul as sparse_matmul,
)
from weft.ops.matmul import (
    tensordot as tensordot,
)
from weft.ops.matrices import (
    eye as eye,
)
from weft.ops.parsing_csv import (
    decode_csv as decode_csv,
)
from weft.ops.parsing_features import (
    FixedLenFeature as FixedLenFeature,
)
from weft.ops.parsing_features import (
    FixedLenSequenceFeature as FixedLenSequenceFeature,
)
from weft.ops.parsing_features import (
    SparseFeature as SparseFeature,
)
from weft.ops.parsing_features import (
    VarLenFeature as VarLenFeature,
)
from weft.ops.parsing_features import (
    parse_example as parse_example,
)
from weft.ops.parsing_features import (
    parse_single_example as parse_single_example,
)
from weft.ops.parsing_sequence import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from weft.ops.parsing_tensor import (
    decode_json_example as decode_json_example,
)
from weft.ops.parsing_tensor import (
    parse_tensor as parse_tensor,
)
from weft.ops.parsing_tensor import (
    serialize_tensor as serialize_tensor,
)
from weft.ops.partition import (
    dynamic_partition as dynamic_partition,
)
from weft.ops.partition import (
    dynamic_stitch as dynamic_stitch,
)
from weft.ops.partitioners import (
    create_partitioned_variables as create_partitioned_variables,
)
from weft.ops.partitioners import (
    fixed_size_partitioner as fixed_size_partitioner,
)
from weft.ops.partitioners import (
    min_max_variable_partitioner as min_max_variable_partitioner,
)
from weft.ops.partitioners import (
    variable_axis_size_partitioner as variable_axis_size_partitioner,
)
from weft.ops.quantize import (
    dequantize as dequantize,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft.ops.quantize import (
    quantize as quantize,
)
from weft.ops.quantize import (
    quantize_v2 as quantize_v2,
)
from weft.ops.queues import (
    FIFOQueue as FIFOQueue,
)
from weft.ops.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
)
from weft.ops.queues import (
    PriorityQueue as PriorityQueue,
)
from weft.ops.queues import (
    QueueBase as QueueBase,
)
from weft.ops.queues import (
    RandomShuffleQueue as RandomShuffleQueue,
)
from weft.ops.random import (
    multinomial as multinomial,
)
from weft.ops.random import (
    random_crop as random_crop,
)
from weft.ops.random import (
    random_gamma as random_gamma,
)
from weft.ops.random import (
    random_normal as random_normal,
)
from weft.ops.random import (
    random_poisson as random_poisson,
)
from weft.ops.random import (
    random_shuffle as random_shuffle,
)
from weft.ops.random import (
    random_uniform as random_uniform,
)
from weft.ops.random import (
    truncated_normal as truncated_normal,
)
from weft.ops.readers import (
    FixedLengthRecordReader as FixedLengthRecordReader,
)
from weft.ops.readers import (
    IdentityReader as IdentityReader,
)
from weft.ops.readers import (
    LMDBReader as LMDBReader,
)
from weft.ops.readers import (
    ReaderBase as ReaderBase,
)
from weft.ops.readers import (
    TextLineReader as TextLineReader,
)
from weft.ops.readers import (
    TFRecordReader as TFRecordReader,
)
from weft.ops.readers import (
    WholeFileReader as WholeFileReader,
)
from weft.ops.readers import (
    matching_files as matching_files,
)
from weft.ops.readers import (
    read_file as read_file,
)
from weft.ops.readers import (
    write_file as write_file,
)
from weft.ops.reduce import (
    arg_max as arg_max,
)
from weft.ops.reduce import (
    arg_min as arg_min,
)
from weft.ops.reduce import (
    argmax as argmax,
)
from weft.ops.reduce import (
    argmin as argmin,
)
from weft.ops.reduce import (
    count_nonzero as count_nonzero,
)
from weft.ops.reduce import (
    cumprod as cumprod,
)
from weft.ops.reduce import (
    cumsum as cumsum,
)
from weft.ops.reduce import (
    reduce_all as reduce_all,
)
from weft.ops.reduce import (
    reduce_any as reduce_any,
)
from weft.ops.reduce import (
    reduce_logsumexp as reduce_logsumexp,
)
from weft.ops.reduce import (
    reduce_max as reduce_max,
)
from weft.ops.reduce import (
    reduce_mean as reduce_mean,
)
from weft.ops.reduce import (
    reduce_min as reduce_min,
)
from weft.ops.reduce import (
    reduce_prod as reduce_prod,
)
from weft.ops.reduce import (
    reduce_sum as reduce_sum,
)
from weft.ops.scatter import (
    scatter_nd as scatter_nd,
)
from weft.ops.scatter import (
    tensor_scatter_add as tensor_scatter_add,
)
from weft.ops.scatter import (
    tensor_scatter_nd_add as tensor_scatter_nd_add,
)
from weft.ops.scatter import (
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
)
from weft.ops.scatter import (
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from weft.ops.scatter import (
    tensor_scatter_sub as tensor_scatter_sub,
)
from weft.ops.scatter import (
    tensor_scatter_update as tensor_scatter_update,
)
from weft.ops.segment import (
    segment_max as segment_max,
)
from weft.ops.segment import (
    segment_mean as segment_mean,
)
from weft.ops.segment import (
    segment_min as segment_min,
)
from weft.ops.segment import (
    segment_prod as segment_prod,
)
from weft.ops.segment import (
    segment_sum as segment_sum,
)
from weft.ops.segment import (
    sparse_segment_mean as sparse_segment_mean,
)
from weft.ops.segment import (
    sparse_segment_sqrt_n as sparse_segment_sqrt_n,
)
from weft.ops.segment import (
    sparse_segment_sum as sparse_segment_sum,
)
from weft.ops.segment import (
    unsorted_segment_max as unsorted_segment_max,
)
from weft.ops.segment import (
    unsorted_segment_mean as unsorted_segment_mean,
)
from weft.ops.segment import (
    unsorted_segment_min as unsorted_segment_min,
)
from weft.ops.segment import (
    unsorted_segment_prod as unsorted_segment_prod,
)
from weft.ops.segment import (
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
)
from weft.ops.segment import (
    unsorted_segment_sum as unsorted_segment_sum,
)
from weft.ops.select import (
    boolean_mask as boolean_mask,
)
from weft.ops.select import (
    one_hot as one_hot,
)
from weft.ops.select import (
    searchsorted as searchsorted,
)
from weft.ops.select import (
    sequence_mask as sequence_mask,
)
from weft.ops.select import (
    unravel_index as unravel_index,
)
from weft.ops.select import (
    where as where,
)
from weft.ops.select import (
    where_v2 as where_v2,
)
from weft.ops.sequence import (
    lin_space as lin_space,
)
from weft.ops.sequence import (
    linspace as linspace,
)
from weft.ops.sequence import (
    range as range,
)
from weft.ops.session_tensors import (
    delete_session_tensor as delete_session_tensor,
)
from weft.ops.session_tensors import (
    get_session_handle as get_session_handle,
)
from weft.ops.session_tensors import (
    get_session_tensor as get_session_tensor,
)
from weft.ops.solve import (
    cholesky_solve as cholesky_solve,
)
from weft.ops.sort import (
    argsort as argsort,
)
from weft.ops.sort import (
    sort as sort,
)
from weft.ops.sparse import (
    sparse_to_dense as sparse_to_dense,
)
from weft.ops.sparse_add import (
    sparse_add as sparse_add,
)
from weft.ops.sparse_convert import (
    sparse_maximum as sparse_maximum,
)
from weft.ops.sparse_convert import (
    sparse_minimum as sparse_minimum,
)
from weft.ops.sparse_convert import (
    sparse_reduce_max as sparse_reduce_max,
)
from weft.ops.sparse_convert import (
    sparse_reduce_max_sparse as sparse_reduce_max_sparse,
)
from weft.ops.sparse_convert import (
    sparse_reduce_sum as sparse_reduce_sum,
)
from weft.ops.sparse_convert import (
    sparse_reduce_sum_sparse as sparse_reduce_sum_sparse,
)
from weft.ops.sparse_convert import (
    sparse_softmax as sparse_softmax,
)
from weft.ops.sparse_convert import (
    sparse_tensor_to_dense as sparse_tensor_to_dense,
)
from weft.ops.sparse_convert import (
    sparse_to_indicator as sparse_to_indicator,
)
from weft.ops.sparse_matmul import (
    sparse_tensor_dense_matmul as sparse_tensor_dense_matmul,
)
from weft.ops.sparse_select import (
    sparse_concat as sparse_concat,
)
from weft.ops.sparse_select import (
    sparse_fill_empty_rows as sparse_fill_empty_rows,
)
from weft.ops.sparse_select import (
    sparse_merge as sparse_merge,
)
from weft.ops.sparse_select import (
    sparse_reorder as sparse_reorder,
)
from weft.ops.sparse_select import (
    sparse_reset_shape as sparse_reset_shape,
)
from weft.ops.sparse_select import (
    sparse_reshape as sparse_reshape,
)
from weft.ops.sparse_select import (
    sparse_retain as sparse_retain,
)
from weft.ops.sparse_select import (
    sparse_slice as sparse_slice,
)
from weft.ops.sparse_select import (
    sparse_split as sparse_split,
)
from weft.ops.sparse_select import (
    sparse_transpose as sparse_transpose,
)
from weft.ops.sparse_serialize import (
    deserialize_many_sparse as deserialize_many_sparse,
)
from weft.ops.sparse_serialize import (
    serialize_many_sparse as serialize_many_sparse,
)
from weft.ops.sparse_serialize import (
    serialize_sparse as serialize_sparse,
)
from weft.ops.special import (
    betainc as betainc,
)
from weft.ops.special import (
    digamma as digamma,
)
from weft.ops.special import (
    erf as erf,
)
from weft.ops.special import (
    erfc as erfc,
)
from weft.ops.special import (
    igamma as igamma,
)
from weft.ops.special import (
    igammac as igammac,
)
from weft.ops.special import (
    lgamma as lgamma,
)
from weft.ops.special import (
    polygamma as polygamma,
)
from weft.ops.special import (
    zeta as zeta,
)
from weft.ops.strided import (
    newaxis as newaxis,
)
from weft.ops.strided import (
    slice as slice,
)
from weft.ops.strided import (
    strided_slice as strided_slice,
)
from weft.ops.string_hash import (
    fingerprint as fingerprint,
)
from weft.ops.string_hash import (
    string_to_hash_bucket as string_to_hash_bucket,
)
from weft.ops.string_hash import (
    string_to_hash_bucket_fast as string_to_hash_bucket_fast,
)
from weft.ops.string_hash import (
    string_to_hash_bucket_strong as string_to_hash_bucket_strong,
)
from weft.ops.string_join import (
    string_join as string_join,
)
from weft.ops.string_numbers import (
    as_string as as_string,
)
from weft.ops.string_numbers import (
    string_to_number as string_to_number,
)
from weft.ops.string_reduce import (
    reduce_join as reduce_join,
)
from weft.ops.string_regex import (
    regex_replace as regex_replace,
)
from weft.ops.string_split import (
    string_split as string_split,
)
from weft.ops.strings import (
    string_strip as string_strip,
)
from weft.ops.strings import (
    substr as substr,
)
from weft.ops.template import (
    make_template as make_template,
)
from weft.ops.tensor_array import (
    TensorArray as TensorArray,
)
from weft.ops.tensor_array_spec import (
    TensorArraySpec as TensorArraySpec,
)
from weft.ops.unary import (
    acos as acos,
)
from weft.ops.unary import (
    acosh as acosh,
)
from weft.ops.unary import (
    asin as asin,
)
from weft.ops.unary import (
    asinh as asinh,
)
from weft.ops.unary import (
    atan as atan,
)
from weft.ops.unary import (
    atanh as atanh,
)
from weft.ops.unary import (
    ceil as ceil,
)
from weft.ops.unary import (
    cos as cos,
)
from weft.ops.unary import (
    cosh as cosh,
)
from weft.ops.unary import (
    exp as exp,
)
from weft.ops.unary import (
    expm1 as expm1,
)
from weft.ops.unary import (
    floor as floor,
)
from weft.ops.unary import (
    is_finite as is_finite,
)
from weft.ops.unary import (
    is_inf as is_inf,
)
from weft.ops.unary import (
    is_nan as is_nan,
)
from weft.ops.unary import (
    log as log,
)
from weft.ops.unary import (
    log1p as log1p,
)
from weft.ops.unary import (
    logical_not as logical_not,
)
from weft.ops.unary import (
    negative as negative,
)
from weft.ops.unary import (
    reciprocal as reciprocal,
)
from weft.ops.unary import (
    rint as rint,
)
from weft.ops.unary import (
    rsqrt as rsqrt,
)
from weft.ops.unary import (
    sign as sign,
)
from weft.ops.unary import (
    sin as sin,
)
from weft.ops.unary import (
    sinh as sinh,
)
from weft.ops.unary import (
    sqrt as sqrt,
)
from weft.ops.unary import (
    square as square,
)
from weft.ops.unary import (
    tan as tan,
)
from weft.ops.unary import (
    tanh as tanh,
)
from weft.ops.updates import (
    assign as assign,
)
from weft.ops.updates import (
    assign_add as assign_add,
)
from weft.ops.updates import (
    assign_sub as assign_sub,
)
from weft.ops.updates import (
    batch_scatter_update as batch_scatter_update,
)
from weft.ops.updates import (
    count_up_to as count_up_to,
)
from weft.ops.updates import (
    is_variable_initialized as is_variable_initialized,
)
from weft.ops.updates import (
    scatter_add as scatter_add,
)
from weft.ops.updates import (
    scatter_div as scatter_div,
)
from weft.ops.updates import (
    scatter_max as scatter_max,
)
from weft.ops.updates import (
    scatter_min as scatter_min,
)
from weft.ops.updates import (
    scatter_mul as scatter_mul,
)
from weft.ops.updates import (
    scatter_nd_add as scatter_nd_add,
)
from weft.ops.updates import (
    scatter_nd_sub as scatter_nd_sub,
)
from weft.ops.updates import (
    scatter_nd_update as scatter_nd_update,
)
from weft.ops.updates import (
    scatter_sub as scatter_sub,
)
from weft.ops.updates import (
    scatter_update as scatter_update,
)
from weft.ops.variable_scope import (
    AUTO_REUSE as AUTO_REUSE,
)
from weft.ops.variable_scope import (
    VariableScope as VariableScope,
)
from weft.ops.variable_scope import (
    get_local_variable as get_local_variable,
)
from weft.ops.variable_scope import (
    get_variable as get_variable,
)
from weft.ops.variable_scope import (
    get_variable_scope as get_variable_scope,
)
from weft.ops.variable_scope import (
    no_regularizer as no_regularizer,
)
from weft.ops.variable_scope import (
    variable_creator_scope as variable_creator_scope,
)
from weft.ops.variable_scope import (
    variable_op_scope as variable_op_scope,
)
from weft.ops.variable_scope import (
    variable_scope as variable_scope,
)
from weft.ops.variable_store import (
    disable_resource_variables as disable_resource_variables,
)
from weft.ops.variable_store import (
    enable_resource_variables as enable_resource_variables,
)
from weft.ops.variable_store import (
    resource_variables_enabled as resource_variables_enabled,
)
from weft.ops.variables import (
    Variable as Variable,
)
from weft.ops.variables import (
    VariableAggregation as VariableAggregation,
)
from weft.ops.variables import (
    VariableSynchronization as VariableSynchronization,
)
from weft.ops.variables import (
    all_variables as all_variables,
)
from weft.ops.variables import (
    assert_variables_initialized as assert_variables_initialized,
)
from weft.ops.variables import (
    global_variables as global_variables,
)
from weft.ops.variables import (
    global_variables_initializer as global_variables_initializer,
)
from weft.ops.variables import (
    initialize_all_variables as initialize_all_variables,
)
from weft.ops.variables import (
    initialize_local_variables as initialize_local_variables,
)
from weft.ops.variables import (
    initialize_variables as initialize_variables,
)
from weft.ops.variables import (
    local_variables as local_variables,
)
from weft.ops.variables import (
    local_variables_initializer as local_variables_initializer,
)
from weft.ops.variables import (
    model_variables as model_variables,
)
from weft.ops.variables import (
    moving_average_variables as moving_average_variables,
)
from weft.ops.variables import (
    report_uninitialized_variables as report_uninitialized_variables,
)
from weft.ops.variables import (
    trainable_variables as trainable_variables,
)
from weft.ops.variables import (
    variables_initializer as variables_initializer,
)
from weft.ops.while_loop import (
    while_loop as while_loop,
)
from weft.platform import compat as compat
from weft.platform import flags as flags
from weft.platform import test as test
from weft.platform.behavior import (
    GradientTape as GradientTape,
)
from weft.platform.behavior import (
    control_flow_v2_enabled as control_flow_v2_enabled,
)
from weft.platform.behavior import (
    disable_control_flow_v2 as disable_control_flow_v2,
)
from weft.platform.behavior import (
    disable_eager_execution as disable_eager_execution,
)
from weft.platform.behavior import (
    disable_tensor_equality as disable_tensor_equality,
)
from weft.platform.behavior import (
    disable_v2_behavior as disable_v2_behavior,
)
from weft.platform.behavior import (
    disable_v2_tensorshape as disable_v2_tensorshape,
)
from weft.platform.behavior import (
    enable_control_flow_v2 as enable_control_flow_v2,
)
from weft.platform.behavior import (
    enable_eager_execution as enable_eager_execution,
)
from weft.platform.behavior import (
    enable_tensor_equality as enable_tensor_equality,
)
from weft.platform.behavior import (
    enable_v2_behavior as enable_v2_behavior,
)
from weft.platform.behavior import (
    enable_v2_tensorshape as enable_v2_tensorshape,
)
from weft.platform.behavior import (
    executing_eagerly as executing_eagerly,
)
from weft.platform.load_library import (
    load_file_system_library as load_file_system_library,
)
from weft.platform.load_library import (
    load_library as load_library,
)
from weft.platform.load_library import (
    load_op_library as load_op_library,
)
from weft.platform.module import (
    Module as Module,
)
from weft.platform.tf_logging import (
    get_logger as get_logger,
)
from weft.platform.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
)
from weft.platform.versions import (
    CXX11_ABI_FLAG as CXX11_ABI_FLAG,
)
from weft.platform.versions import (
    GIT_VERSION as GIT_VERSION,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION as GRAPH_DEF_VERSION,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER,
)
from weft.platform.versions import (
    MONOLITHIC_BUILD as MONOLITHIC_BUILD,
)
from weft.platform.versions import (
    VERSION as VERSION,
)
from weft.platform.versions import (
    __compiler_version__ as __compiler_version__,
)
from weft.platform.versions import (
    __cxx11_abi_flag__ as __cxx11_abi_flag__,
)
from weft.platform.versions import (
    __git_version__ as __git_version__,
)
from weft.platform.versions import (
    __monolithic_build__ as __monolithic_build__,
)
from weft.platform.versions import (
    __version__ as __version__,
)


def __getattr__(name: str) -> object:
    """`tf.contrib` is imported when it is first used."""
    if name == "contrib":
        import importlib

        return importlib.import_module("weft.contrib")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
