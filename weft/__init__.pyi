# Written by `make stubs` from weft/__init__.py and the functions that it exports.
from typing import Any as _Any
from weft.core.dtypes import DType as _DType
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.api import app as app
from weft.api import audio as audio
from weft.api import bitwise as bitwise
from weft.api import compat as compat
from weft.api import config as config
from weft.api import data as data
from weft.api import debugging as debugging
from weft.api import distribute as distribute
from weft.api import distributions as distributions
from weft.api import dtypes as dtypes
from weft.api import estimator as estimator
from weft.api import feature_column as feature_column
from weft.api import gfile as gfile
from weft.api import graph_util as graph_util
from weft.api import image as image
from weft.api import initializers as initializers
from weft.api import io as io
from weft.api import keras as keras
from weft.api import layers as layers
from weft.api import linalg as linalg
from weft.api import logging as logging
from weft.api import lookup as lookup
from weft.api import losses as losses
from weft.api import manip as manip
from weft.api import math as math
from weft.api import metrics as metrics
from weft.api import nn as nn
from weft.api import profiler as profiler
from weft.api import python_io as python_io
from weft.api import quantization as quantization
from weft.api import queue as queue
from weft.api import ragged as ragged
from weft.api import random as random
from weft.api import resource_loader as resource_loader
from weft.api import saved_model as saved_model
from weft.api import sets as sets
from weft.api import signal as signal
from weft.api import sparse as sparse
from weft.api import spectral as spectral
from weft.api import strings as strings
from weft.api import summary as summary
from weft.api import sysconfig as sysconfig
from weft.api import test as test
from weft.api import tpu as tpu
from weft.api import train as train
from weft.api import version as version
from weft.api import xla as xla
from weft.core import errors as errors
from weft.core import nest as nest
from weft.legacy import examples as examples
from weft.legacy import python as python
from weft.lib import autograph as autograph
from weft.lib import contrib as contrib
from weft.lib.platform import flags as flags
from tensorboard.compat.proto.attr_value_pb2 import AttrValue as AttrValue
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList as NameAttrList
from tensorboard.compat.proto.config_pb2 import ConfigProto as ConfigProto
from tensorboard.compat.proto.config_pb2 import GPUOptions as GPUOptions
from tensorboard.compat.proto.config_pb2 import GraphOptions as GraphOptions
from tensorboard.compat.proto.config_pb2 import OptimizerOptions as OptimizerOptions
from tensorboard.compat.proto.config_pb2 import RunMetadata as RunMetadata
from tensorboard.compat.proto.config_pb2 import RunOptions as RunOptions
from tensorboard.compat.proto.event_pb2 import Event as Event
from tensorboard.compat.proto.event_pb2 import LogMessage as LogMessage
from tensorboard.compat.proto.event_pb2 import SessionLog as SessionLog
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.histogram_pb2 import HistogramProto as HistogramProto
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef as MetaGraphDef
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo as TensorInfo
from tensorboard.compat.proto.node_def_pb2 import NodeDef as NodeDef
from tensorboard.compat.proto.summary_pb2 import Summary as Summary
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata as SummaryMetadata
from weft.autodiff.accumulate import AggregationMethod as AggregationMethod
from weft.autodiff.custom_gradient import custom_gradient as custom_gradient
from weft.autodiff.custom_gradient import grad_pass_through as grad_pass_through
from weft.autodiff.custom_gradient import recompute_grad as recompute_grad
from weft.autodiff.gradients import gradients as gradients
from weft.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from weft.autodiff.hessians import hessians as hessians
from weft.autodiff.registration import NotDifferentiable as _is_no_gradient
from weft.autodiff.registration import NoGradient as NoGradient
from weft.autodiff.registration import NotDifferentiable as NotDifferentiable
from weft.autodiff.registration import RegisterGradient as RegisterGradient
from weft.autodiff.tape import GradientTape as GradientTape
from weft.client.session import InteractiveSession as InteractiveSession
from weft.client.session import Session as Session
from weft.core.device_name import DeviceSpec as DeviceSpec
from weft.core.dtypes import as_dtype as as_dtype
from weft.core.dtypes import bfloat16 as bfloat16
from weft.core.dtypes import bool as bool
from weft.core.dtypes import complex128 as complex128
from weft.core.dtypes import complex64 as complex64
from weft.core.dtypes import double as double
from weft.core.dtypes import DType as DType
from weft.core.dtypes import float16 as float16
from weft.core.dtypes import float32 as float32
from weft.core.dtypes import float64 as float64
from weft.core.dtypes import half as half
from weft.core.dtypes import int16 as int16
from weft.core.dtypes import int32 as int32
from weft.core.dtypes import int64 as int64
from weft.core.dtypes import int8 as int8
from weft.core.dtypes import qint16 as qint16
from weft.core.dtypes import qint32 as qint32
from weft.core.dtypes import qint8 as qint8
from weft.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from weft.core.dtypes import quint16 as quint16
from weft.core.dtypes import quint8 as quint8
from weft.core.dtypes import resource as resource
from weft.core.dtypes import string as string
from weft.core.dtypes import uint16 as uint16
from weft.core.dtypes import uint32 as uint32
from weft.core.dtypes import uint64 as uint64
from weft.core.dtypes import uint8 as uint8
from weft.core.dtypes import variant as variant
from weft.core.errors import OpError as OpError
from weft.core.shapes import Dimension as Dimension
from weft.core.shapes import dimension_at_index as dimension_at_index
from weft.core.shapes import dimension_value as dimension_value
from weft.core.shapes import TensorShape as TensorShape
from weft.graph.constant import constant as constant
from weft.graph.constant_value import get_static_value as get_static_value
from weft.graph.convert import convert_to_tensor as convert_to_tensor
from weft.graph.convert import register_tensor_conversion_function as register_tensor_conversion_function
from weft.graph.graph import add_to_collection as add_to_collection
from weft.graph.graph import add_to_collections as add_to_collections
from weft.graph.graph import colocate_with as colocate_with
from weft.graph.graph import container as container
from weft.graph.graph import control_dependencies as control_dependencies
from weft.graph.graph import device as device
from weft.graph.graph import get_collection as get_collection
from weft.graph.graph import get_collection_ref as get_collection_ref
from weft.graph.graph import Graph as Graph
from weft.graph.graph import init_scope as init_scope
from weft.graph.graph import name_scope as name_scope
from weft.graph.graph import op_scope as op_scope
from weft.graph.importer import import_graph_def as import_graph_def
from weft.graph.keys import GraphKeys as GraphKeys
from weft.graph.op_def import raw as _is_raw_ops
from weft.graph.operation import Operation as Operation
from weft.graph.random_seed import get_seed as get_seed
from weft.graph.random_seed import set_random_seed as set_random_seed
from weft.graph.slices import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from weft.graph.slices import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from weft.graph.slices import IndexedSlices as IndexedSlices
from weft.graph.slices import SparseTensor as SparseTensor
from weft.graph.slices import SparseTensorValue as SparseTensorValue
from weft.graph.stacks import get_default_graph as get_default_graph
from weft.graph.stacks import get_default_session as get_default_session
from weft.graph.stacks import reset_default_graph as reset_default_graph
from weft.graph.tensor import Tensor as Tensor
from weft.graph.tensor_proto import make_ndarray as make_ndarray
from weft.graph.tensor_proto import make_tensor_proto as make_tensor_proto
from weft.graph.tensor_util import is_tensor as is_tensor
from weft.graph.type_spec import IndexedSlicesSpec as IndexedSlicesSpec
from weft.graph.type_spec import SparseTensorSpec as SparseTensorSpec
from weft.graph.type_spec import TensorSpec as TensorSpec
from weft.graph.type_spec import TypeSpec as TypeSpec
from weft.lib.data.optional import OptionalSpec as OptionalSpec
from weft.lib.functions.batched import nondifferentiable_batch_function as nondifferentiable_batch_function
from weft.lib.functions.polymorphic import function as function
from weft.lib.functions.vectorized import vectorized_map as vectorized_map
from weft.lib.functions.wrap import wrap_function as wrap_function
from weft.lib.platform.behavior import control_flow_v2_enabled as control_flow_v2_enabled
from weft.lib.platform.behavior import disable_control_flow_v2 as disable_control_flow_v2
from weft.lib.platform.behavior import disable_eager_execution as disable_eager_execution
from weft.lib.platform.behavior import disable_tensor_equality as disable_tensor_equality
from weft.lib.platform.behavior import disable_v2_behavior as disable_v2_behavior
from weft.lib.platform.behavior import disable_v2_tensorshape as disable_v2_tensorshape
from weft.lib.platform.behavior import enable_control_flow_v2 as enable_control_flow_v2
from weft.lib.platform.behavior import enable_eager_execution as enable_eager_execution
from weft.lib.platform.behavior import enable_tensor_equality as enable_tensor_equality
from weft.lib.platform.behavior import enable_v2_behavior as enable_v2_behavior
from weft.lib.platform.behavior import enable_v2_tensorshape as enable_v2_tensorshape
from weft.lib.platform.load_library import load_file_system_library as load_file_system_library
from weft.lib.platform.load_library import load_library as load_library
from weft.lib.platform.load_library import load_op_library as load_op_library
from weft.lib.platform.module import Module as Module
from weft.lib.platform.tf_logging import get_logger as get_logger
from weft.lib.platform.versions import __compiler_version__ as __compiler_version__
from weft.lib.platform.versions import __cxx11_abi_flag__ as __cxx11_abi_flag__
from weft.lib.platform.versions import __git_version__ as __git_version__
from weft.lib.platform.versions import __monolithic_build__ as __monolithic_build__
from weft.lib.platform.versions import __version__ as __version__
from weft.lib.platform.versions import COMPILER_VERSION as COMPILER_VERSION
from weft.lib.platform.versions import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from weft.lib.platform.versions import GIT_VERSION as GIT_VERSION
from weft.lib.platform.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from weft.lib.platform.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.lib.platform.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from weft.lib.platform.versions import MONOLITHIC_BUILD as MONOLITHIC_BUILD
from weft.lib.platform.versions import VERSION as VERSION
from weft.lib.ragged.dispatched import _function as _is_negative
from weft.lib.ragged.map_rows import map_fn as map_fn
from weft.lib.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from weft.lib.ragged.strings import string_split as string_split
from weft.lib.ragged.tensor import RaggedTensor as RaggedTensor
from weft.lib.signal import fft as fft
from weft.lib.signal import fft2d as fft2d
from weft.lib.signal import fft3d as fft3d
from weft.lib.signal import ifft as ifft
from weft.lib.signal import ifft2d as ifft2d
from weft.lib.signal import ifft3d as ifft3d
from weft.ops.array.blocks import batch_to_space as batch_to_space
from weft.ops.array.blocks import batch_to_space_nd as batch_to_space_nd
from weft.ops.array.blocks import required_space_to_batch_paddings as required_space_to_batch_paddings
from weft.ops.array.blocks import space_to_batch as space_to_batch
from weft.ops.array.blocks import space_to_batch_nd as space_to_batch_nd
from weft.ops.array.depth_blocks import depth_to_space as depth_to_space
from weft.ops.array.depth_blocks import space_to_depth as space_to_depth
from weft.ops.array.diag import diag as diag
from weft.ops.array.diag import diag_part as diag_part
from weft.ops.array.diag import matrix_band_part as matrix_band_part
from weft.ops.array.diag import matrix_diag as matrix_diag
from weft.ops.array.diag import matrix_set_diag as matrix_set_diag
from weft.ops.array.distinct import setdiff1d as setdiff1d
from weft.ops.array.distinct import unique as unique
from weft.ops.array.distinct import unique_with_counts as unique_with_counts
from weft.ops.array.fill import broadcast_dynamic_shape as broadcast_dynamic_shape
from weft.ops.array.fill import broadcast_static_shape as broadcast_static_shape
from weft.ops.array.fill import broadcast_to as broadcast_to
from weft.ops.array.fill import fill as fill
from weft.ops.array.fill import ones as ones
from weft.ops.array.fill import zeros as zeros
from weft.ops.array.gather import sparse_mask as sparse_mask
from weft.ops.array.join import parallel_stack as parallel_stack
from weft.ops.array.one_hot_search import boolean_mask as boolean_mask
from weft.ops.array.one_hot_search import searchsorted as searchsorted
from weft.ops.array.one_hot_search import sequence_mask as sequence_mask
from weft.ops.array.one_hot_search import unravel_index as unravel_index
from weft.ops.array.one_hot_search import where_v2 as where_v2
from weft.ops.array.pad import pad as pad
from weft.ops.array.partition import dynamic_stitch as dynamic_stitch
from weft.ops.array.patches import extract_image_patches as extract_image_patches
from weft.ops.array.patches import extract_volume_patches as extract_volume_patches
from weft.ops.array.placeholders import ensure_shape as ensure_shape
from weft.ops.array.placeholders import guarantee_const as guarantee_const
from weft.ops.array.placeholders import identity_n as identity_n
from weft.ops.array.placeholders import placeholder as placeholder
from weft.ops.array.placeholders import placeholder_with_default as placeholder_with_default
from weft.ops.array.placeholders import sparse_placeholder as sparse_placeholder
from weft.ops.array.placeholders import stop_gradient as stop_gradient
from weft.ops.array.repeat import meshgrid as meshgrid
from weft.ops.array.repeat import repeat as repeat
from weft.ops.array.reverse import reverse as reverse
from weft.ops.array.reverse import reverse_sequence as reverse_sequence
from weft.ops.array.reverse import reverse_v2 as reverse_v2
from weft.ops.array.reverse import roll as roll
from weft.ops.array.scatter import scatter_nd as scatter_nd
from weft.ops.array.scatter import tensor_scatter_add as tensor_scatter_add
from weft.ops.array.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from weft.ops.array.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from weft.ops.array.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from weft.ops.array.scatter import tensor_scatter_sub as tensor_scatter_sub
from weft.ops.array.scatter import tensor_scatter_update as tensor_scatter_update
from weft.ops.array.shape import invert_permutation as invert_permutation
from weft.ops.array.shape import matrix_transpose as matrix_transpose
from weft.ops.array.shape import reshape as reshape
from weft.ops.array.shape import shape as shape
from weft.ops.array.shape import shape_n as shape_n
from weft.ops.array.shape import transpose as transpose
from weft.ops.array.slicing import slice as slice
from weft.ops.array.split import split as split
from weft.ops.array.split import unstack as unstack
from weft.ops.array.strided import newaxis as newaxis
from weft.ops.array.strided import strided_slice as strided_slice
from weft.ops.control.case import case as case
from weft.ops.control.case import switch_case as switch_case
from weft.ops.control.check import add_check_numerics_ops as add_check_numerics_ops
from weft.ops.control.check import assert_near as assert_near
from weft.ops.control.check import is_non_decreasing as is_non_decreasing
from weft.ops.control.check import is_strictly_increasing as is_strictly_increasing
from weft.ops.control.check import verify_tensor_all_finite as verify_tensor_all_finite
from weft.ops.control.check_shapes import assert_rank_in as assert_rank_in
from weft.ops.control.check_shapes import assert_scalar as assert_scalar
from weft.ops.control.check_types import assert_integer as assert_integer
from weft.ops.control.check_types import assert_proper_iterable as assert_proper_iterable
from weft.ops.control.check_types import assert_same_float_dtype as assert_same_float_dtype
from weft.ops.control.check_types import assert_type as assert_type
from weft.ops.control.check_types import is_numeric_tensor as is_numeric_tensor
from weft.ops.control.clock import timestamp as timestamp
from weft.ops.control.cond import cond as cond
from weft.ops.control.control import Assert as Assert
from weft.ops.control.control import group as group
from weft.ops.control.control import no_op as no_op
from weft.ops.control.control import tuple_ as _is_tuple
from weft.ops.control.critical_section import CriticalSection as CriticalSection
from weft.ops.control.printing import Print as Print
from weft.ops.control.printing import print_v2 as _is_print
from weft.ops.control.while_loop import while_loop as while_loop
from weft.ops.functions.functional import foldl as foldl
from weft.ops.functions.functional import foldr as foldr
from weft.ops.functions.functional import scan as scan
from weft.ops.functions.py_func import numpy_function as numpy_function
from weft.ops.functions.py_func import py_func as py_func
from weft.ops.functions.py_func import py_function as py_function
from weft.ops.kit.eager import executing_eagerly as executing_eagerly
from weft.ops.linalg.linalg import matrix_solve_ls as matrix_solve_ls
from weft.ops.linalg.linalg import matrix_square_root as matrix_square_root
from weft.ops.linalg.linalg import matrix_triangular_solve as matrix_triangular_solve
from weft.ops.linalg.linalg import norm as norm
from weft.ops.linalg.linalg import qr as qr
from weft.ops.linalg.linalg import self_adjoint_eig as self_adjoint_eig
from weft.ops.linalg.linalg import self_adjoint_eigvals as self_adjoint_eigvals
from weft.ops.linalg.linalg import svd as svd
from weft.ops.linalg.matrices import eye as eye
from weft.ops.linalg.solve import cholesky_solve as cholesky_solve
from weft.ops.lists.tensor_array import TensorArray as TensorArray
from weft.ops.lists.tensor_array_spec import TensorArraySpec as TensorArraySpec
from weft.ops.lookup.tables import initialize_all_tables as initialize_all_tables
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.math.clip import clip_by_average_norm as clip_by_average_norm
from weft.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from weft.ops.math.clip import clip_by_norm as clip_by_norm
from weft.ops.math.clip import global_norm as global_norm
from weft.ops.math.einsum import einsum as einsum
from weft.ops.math.histogram import bincount as bincount
from weft.ops.math.histogram import histogram_fixed_width as histogram_fixed_width
from weft.ops.math.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from weft.ops.math.math import accumulate_n as accumulate_n
from weft.ops.math.math import lbeta as lbeta
from weft.ops.math.math import scalar_mul as scalar_mul
from weft.ops.math.math import sigmoid as sigmoid
from weft.ops.math.matmul import sparse_matmul as sparse_matmul
from weft.ops.math.matmul import tensordot as tensordot
from weft.ops.math.reduce import count_nonzero as count_nonzero
from weft.ops.math.reduce import reduce_logsumexp as reduce_logsumexp
from weft.ops.math.sequence import range as range
from weft.ops.math.sort import argsort as argsort
from weft.ops.math.sort import sort as sort
from weft.ops.parsing.csv import decode_csv as decode_csv
from weft.ops.parsing.features import FixedLenFeature as FixedLenFeature
from weft.ops.parsing.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from weft.ops.parsing.features import parse_example as parse_example
from weft.ops.parsing.features import parse_single_example as parse_single_example
from weft.ops.parsing.features import SparseFeature as SparseFeature
from weft.ops.parsing.features import VarLenFeature as VarLenFeature
from weft.ops.parsing.sequence import parse_single_sequence_example as parse_single_sequence_example
from weft.ops.quantized.arithmetic import quantized_concat as quantized_concat
from weft.ops.quantized.quantize import dequantize as dequantize
from weft.ops.quantized.quantize import quantize as quantize
from weft.ops.quantized.quantize import quantize_v2 as quantize_v2
from weft.ops.queues.accumulators import ConditionalAccumulator as ConditionalAccumulator
from weft.ops.queues.accumulators import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from weft.ops.queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.queues.queues import FIFOQueue as FIFOQueue
from weft.ops.queues.queues import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.queues.queues import PriorityQueue as PriorityQueue
from weft.ops.queues.queues import QueueBase as QueueBase
from weft.ops.queues.queues import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.queues.readers import FixedLengthRecordReader as FixedLengthRecordReader
from weft.ops.queues.readers import IdentityReader as IdentityReader
from weft.ops.queues.readers import LMDBReader as LMDBReader
from weft.ops.queues.readers import ReaderBase as ReaderBase
from weft.ops.queues.readers import TextLineReader as TextLineReader
from weft.ops.queues.readers import TFRecordReader as TFRecordReader
from weft.ops.queues.readers import WholeFileReader as WholeFileReader
from weft.ops.random.random import multinomial as multinomial
from weft.ops.random.random import random_crop as random_crop
from weft.ops.random.random import random_gamma as random_gamma
from weft.ops.random.random import random_poisson as random_poisson
from weft.ops.random.random import random_shuffle as random_shuffle
from weft.ops.random.random import random_uniform as random_uniform
from weft.ops.scores.confusion_matrix import confusion_matrix as confusion_matrix
from weft.ops.sparse.add import sparse_add as sparse_add
from weft.ops.sparse.convert import sparse_maximum as sparse_maximum
from weft.ops.sparse.convert import sparse_minimum as sparse_minimum
from weft.ops.sparse.convert import sparse_reduce_max as sparse_reduce_max
from weft.ops.sparse.convert import sparse_reduce_max_sparse as sparse_reduce_max_sparse
from weft.ops.sparse.convert import sparse_reduce_sum as sparse_reduce_sum
from weft.ops.sparse.convert import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
from weft.ops.sparse.convert import sparse_softmax as sparse_softmax
from weft.ops.sparse.convert import sparse_tensor_to_dense as sparse_tensor_to_dense
from weft.ops.sparse.convert import sparse_to_indicator as sparse_to_indicator
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from weft.ops.sparse.select import sparse_concat as sparse_concat
from weft.ops.sparse.select import sparse_fill_empty_rows as sparse_fill_empty_rows
from weft.ops.sparse.select import sparse_merge as sparse_merge
from weft.ops.sparse.select import sparse_reorder as sparse_reorder
from weft.ops.sparse.select import sparse_reset_shape as sparse_reset_shape
from weft.ops.sparse.select import sparse_reshape as sparse_reshape
from weft.ops.sparse.select import sparse_retain as sparse_retain
from weft.ops.sparse.select import sparse_slice as sparse_slice
from weft.ops.sparse.select import sparse_split as sparse_split
from weft.ops.sparse.select import sparse_transpose as sparse_transpose
from weft.ops.sparse.serialize import deserialize_many_sparse as deserialize_many_sparse
from weft.ops.sparse.serialize import serialize_many_sparse as serialize_many_sparse
from weft.ops.sparse.serialize import serialize_sparse as serialize_sparse
from weft.ops.sparse.to_dense import sparse_to_dense as sparse_to_dense
from weft.ops.state.get_variable import get_variable as get_variable
from weft.ops.state.get_variable import get_variable_scope as get_variable_scope
from weft.ops.state.get_variable import VariableScope as VariableScope
from weft.ops.state.initializers import constant_initializer as constant_initializer
from weft.ops.state.initializers import glorot_normal_initializer as glorot_normal_initializer
from weft.ops.state.initializers import glorot_uniform_initializer as glorot_uniform_initializer
from weft.ops.state.initializers import ones_initializer as ones_initializer
from weft.ops.state.initializers import orthogonal_initializer as orthogonal_initializer
from weft.ops.state.initializers import random_normal_initializer as random_normal_initializer
from weft.ops.state.initializers import random_uniform_initializer as random_uniform_initializer
from weft.ops.state.initializers import truncated_normal_initializer as truncated_normal_initializer
from weft.ops.state.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling_initializer
from weft.ops.state.initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.state.initializers import zeros_initializer as zeros_initializer
from weft.ops.state.partitioners import create_partitioned_variables as create_partitioned_variables
from weft.ops.state.partitioners import fixed_size_partitioner as fixed_size_partitioner
from weft.ops.state.partitioners import min_max_variable_partitioner as min_max_variable_partitioner
from weft.ops.state.partitioners import variable_axis_size_partitioner as variable_axis_size_partitioner
from weft.ops.state.session_tensors import delete_session_tensor as delete_session_tensor
from weft.ops.state.session_tensors import get_session_handle as get_session_handle
from weft.ops.state.session_tensors import get_session_tensor as get_session_tensor
from weft.ops.state.template import make_template as make_template
from weft.ops.state.updates import assign as assign
from weft.ops.state.updates import assign_add as assign_add
from weft.ops.state.updates import assign_sub as assign_sub
from weft.ops.state.updates import batch_scatter_update as batch_scatter_update
from weft.ops.state.updates import count_up_to as count_up_to
from weft.ops.state.updates import is_variable_initialized as is_variable_initialized
from weft.ops.state.variable_creators import variable_creator_scope as variable_creator_scope
from weft.ops.state.variable_def import VariableAggregation as VariableAggregation
from weft.ops.state.variable_def import VariableSynchronization as VariableSynchronization
from weft.ops.state.variable_lists import all_variables as all_variables
from weft.ops.state.variable_lists import assert_variables_initialized as assert_variables_initialized
from weft.ops.state.variable_lists import global_variables as global_variables
from weft.ops.state.variable_lists import global_variables_initializer as global_variables_initializer
from weft.ops.state.variable_lists import initialize_all_variables as initialize_all_variables
from weft.ops.state.variable_lists import initialize_local_variables as initialize_local_variables
from weft.ops.state.variable_lists import initialize_variables as initialize_variables
from weft.ops.state.variable_lists import local_variables as local_variables
from weft.ops.state.variable_lists import local_variables_initializer as local_variables_initializer
from weft.ops.state.variable_lists import model_variables as model_variables
from weft.ops.state.variable_lists import moving_average_variables as moving_average_variables
from weft.ops.state.variable_lists import report_uninitialized_variables as report_uninitialized_variables
from weft.ops.state.variable_lists import trainable_variables as trainable_variables
from weft.ops.state.variable_lists import variables_initializer as variables_initializer
from weft.ops.state.variable_scope import AUTO_REUSE as AUTO_REUSE
from weft.ops.state.variable_scope import no_regularizer as no_regularizer
from weft.ops.state.variable_scope import variable_op_scope as variable_op_scope
from weft.ops.state.variable_scope import variable_scope as variable_scope
from weft.ops.state.variable_store import disable_resource_variables as disable_resource_variables
from weft.ops.state.variable_store import enable_resource_variables as enable_resource_variables
from weft.ops.state.variable_store import resource_variables_enabled as resource_variables_enabled
from weft.ops.state.variables import Variable as Variable
from weft.ops.strings.decode import decode_raw as decode_raw
from weft.ops.strings.edit_distance import edit_distance as edit_distance
from weft.ops.strings.hash import fingerprint as fingerprint
from weft.ops.strings.serialized_tensors import decode_json_example as decode_json_example
from weft.ops.strings.serialized_tensors import parse_tensor as parse_tensor
from weft.ops.strings.serialized_tensors import serialize_tensor as serialize_tensor
no_gradient = _is_no_gradient
raw_ops = _is_raw_ops
def cholesky(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def matmul(a: _Any, b: _Any, transpose_a: _builtins.bool = False, transpose_b: _builtins.bool = False, adjoint_a: _builtins.bool = False, adjoint_b: _builtins.bool = False, a_is_sparse: _builtins.bool = False, b_is_sparse: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def matrix_determinant(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def matrix_diag_part(input: _Any, name: _builtins.str | None = 'diag_part', k: _Any = 0, padding_value: _Any = 0) -> _Tensor: ...
def matrix_inverse(input: _Any, adjoint: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def matrix_solve(matrix: _Any, rhs: _Any, adjoint: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def trace(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def abs(x: _Any, name: _builtins.str | None = None) -> _Any: ...
def acos(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def acosh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def add(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def add_n(inputs: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def angle(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def as_string(input: _Any, precision: _builtins.int = -1, scientific: _builtins.bool = False, shortest: _builtins.bool = False, width: _builtins.int = -1, fill: _builtins.str = '', name: _builtins.str | None = None) -> _Tensor: ...
def asin(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def asinh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def atan(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def atan2(y: _Any, x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def atanh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def batch_gather(params: _Any, indices: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def cast(x: _Any, dtype: _Any, name: _builtins.str | None = None) -> _Any: ...
def ceil(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def check_numerics(tensor: _Any, message: _builtins.str, name: _builtins.str | None = None) -> _Tensor: ...
def clip_by_value(t: _Any, clip_value_min: _Any, clip_value_max: _Any, name: _builtins.str | None = None) -> _Any: ...
def complex(real: _Any, imag: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def concat(values: _Any, axis: _Any, name: _builtins.str | None = 'concat') -> _Tensor: ...
def conj(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def cos(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def cosh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def decode_base64(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def decode_compressed(bytes: _Any, compression_type: _builtins.str = '', name: _builtins.str | None = None) -> _Tensor: ...
def digamma(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def div(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def div_no_nan(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def divide(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Any: ...
def dynamic_partition(data: _Any, partitions: _Any, num_partitions: _builtins.int, name: _builtins.str | None = None) -> _builtins.list[_Tensor]: ...
def encode_base64(input: _Any, pad: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def equal(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def erf(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def erfc(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def exp(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def expand_dims(input: _Any, axis: _Any = None, name: _builtins.str | None = None, dim: _Any = None) -> _Tensor: ...
def expm1(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def floor(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def floordiv(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def floormod(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def gather(params: _Any, indices: _Any, validate_indices: _builtins.bool | None = None, name: _builtins.str | None = None, axis: _Any = None, batch_dims: _builtins.int = 0) -> _Tensor: ...
def gather_nd(params: _Any, indices: _Any, name: _builtins.str | None = None, batch_dims: _Any = 0) -> _Tensor: ...
def greater(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def greater_equal(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def identity(input: _Any, name: _builtins.str | None = None) -> _Any: ...
def imag(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def is_finite(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def is_inf(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def is_nan(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def less(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def less_equal(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def lgamma(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def log(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def log1p(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def log_sigmoid(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def logical_and(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def logical_not(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def logical_or(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def logical_xor(x: _Any, y: _Any, name: _builtins.str | None = 'LogicalXor') -> _Tensor: ...
def maximum(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def minimum(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def mod(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def multiply(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
negative = _is_negative
def not_equal(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def one_hot(indices: _Any, depth: _Any, on_value: _Any = None, off_value: _Any = None, axis: _builtins.int | None = None, dtype: _Any = None, name: _builtins.str | None = None) -> _Tensor: ...
def ones_like(tensor: _Any, dtype: _Any = None, name: _builtins.str | None = None, optimize: _builtins.bool = True) -> _Tensor: ...
def pow(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def rank(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def real(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def realdiv(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def reciprocal(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_join(inputs: _Any, axis: _Any = None, keep_dims: _Any = None, separator: _builtins.str = '', name: _builtins.str | None = None, reduction_indices: _Any = None, keepdims: _Any = None) -> _Tensor: ...
def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_prod(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _builtins.bool | None = None, name: _builtins.str | None = None, reduction_indices: _Any = None, keep_dims: _builtins.bool | None = None) -> _Tensor: ...
def regex_replace(input: _Any, pattern: _Any, rewrite: _Any, replace_global: _builtins.bool = True, name: _builtins.str | None = None) -> _Tensor: ...
def rint(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def round(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def rsqrt(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def saturate_cast(value: _Any, dtype: _Any, name: _builtins.str | None = None) -> _Any: ...
def sign(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def sin(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def sinh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def size(input: _Any, name: _builtins.str | None = None, out_type: _DType = ...) -> _Tensor: ...
def sqrt(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def square(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def squared_difference(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def squeeze(input: _Any, axis: _Any = None, name: _builtins.str | None = None, squeeze_dims: _Any = None) -> _Tensor: ...
def stack(values: _Any, axis: _builtins.int = 0, name: _builtins.str | None = 'stack') -> _Tensor: ...
def string_join(inputs: _Any, separator: _builtins.str = '', name: _builtins.str | None = None) -> _Tensor: ...
def string_strip(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def string_to_hash_bucket(string_tensor: _Any = None, num_buckets: _Any = None, name: _builtins.str | None = None, input: _Any = None) -> _Tensor: ...
def string_to_hash_bucket_fast(input: _Any, num_buckets: _builtins.int, name: _builtins.str | None = None) -> _Tensor: ...
def string_to_hash_bucket_strong(input: _Any, num_buckets: _builtins.int, key: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def string_to_number(string_tensor: _Any = None, out_type: _Any = ..., name: _builtins.str | None = None, input: _Any = None) -> _Tensor: ...
def substr(input: _Any, pos: _Any, len: _Any, name: _builtins.str | None = None, unit: _builtins.str = 'BYTE') -> _Tensor: ...
def subtract(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def tan(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def tile(input: _Any, multiples: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def truediv(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def truncatediv(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def truncatemod(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_max(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_mean(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_min(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_sqrt_n(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def unsorted_segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def where(condition: _Any, x: _Any = None, y: _Any = None, name: _builtins.str | None = None) -> _Tensor: ...
def zeros_like(tensor: _Any, dtype: _Any = None, name: _builtins.str | None = None, optimize: _builtins.bool = True) -> _Tensor: ...
def assert_equal(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_greater(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_greater_equal(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_less(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_less_equal(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_negative(x: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_non_negative(x: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_non_positive(x: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_none_equal(x: _Any, y: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_positive(x: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_rank(x: _Any, rank: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def assert_rank_at_least(x: _Any, rank: _Any, data: _Any = None, summarize: _builtins.int | None = None, message: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
tuple = _is_tuple
print = _is_print
def arg_max(input: _Any, dimension: _Any, output_type: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def arg_min(input: _Any, dimension: _Any, output_type: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def argmax(input: _Any, axis: _Any = None, name: _builtins.str | None = None, dimension: _Any = None, output_type: _Any = ...) -> _Tensor: ...
def argmin(input: _Any, axis: _Any = None, name: _builtins.str | None = None, dimension: _Any = None, output_type: _Any = ...) -> _Tensor: ...
def bitcast(input: _Any, type: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def to_bfloat16(x: _Any, name: _builtins.str = 'ToBFloat16') -> _Any: ...
def to_complex128(x: _Any, name: _builtins.str = 'ToComplex128') -> _Any: ...
def to_complex64(x: _Any, name: _builtins.str = 'ToComplex64') -> _Any: ...
def to_double(x: _Any, name: _builtins.str = 'ToDouble') -> _Any: ...
def to_float(x: _Any, name: _builtins.str = 'ToFloat') -> _Any: ...
def to_int32(x: _Any, name: _builtins.str = 'ToInt32') -> _Any: ...
def to_int64(x: _Any, name: _builtins.str = 'ToInt64') -> _Any: ...
def cumprod(x: _Any, axis: _Any = 0, exclusive: _builtins.bool = False, reverse: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def cumsum(x: _Any, axis: _Any = 0, exclusive: _builtins.bool = False, reverse: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def floor_div(x: _Any, y: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def cross(a: _Any, b: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def segment_max(data: _Any, segment_ids: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def segment_mean(data: _Any, segment_ids: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def segment_min(data: _Any, segment_ids: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def segment_prod(data: _Any, segment_ids: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def segment_sum(data: _Any, segment_ids: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def sparse_segment_mean(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def sparse_segment_sqrt_n(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def sparse_segment_sum(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def lin_space(start: _Any, stop: _Any, num: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def linspace(start: _Any, stop: _Any, num: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def betainc(a: _Any, b: _Any, x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def igamma(a: _Any, x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def igammac(a: _Any, x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def polygamma(a: _Any, x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def zeta(x: _Any, q: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def tanh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def ctc_loss_v2(inputs: _Any, labels_indices: _Any, labels_values: _Any, sequence_length: _Any, preprocess_collapse_repeated: _Any = False, ctc_merge_repeated: _Any = True, ignore_longer_outputs_than_inputs: _Any = False, name: _builtins.str | None = None) -> _Any: ...
def fake_quant_with_min_max_args(inputs: _Any, min: _Any = -6.0, max: _Any = 6.0, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Tensor: ...
def fake_quant_with_min_max_args_gradient(gradients: _Any, inputs: _Any, min: _Any = -6.0, max: _Any = 6.0, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Tensor: ...
def fake_quant_with_min_max_vars(inputs: _Any, min: _Any, max: _Any, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Tensor: ...
def fake_quant_with_min_max_vars_gradient(gradients: _Any, inputs: _Any, min: _Any, max: _Any, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Any: ...
def fake_quant_with_min_max_vars_per_channel(inputs: _Any, min: _Any, max: _Any, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Tensor: ...
def fake_quant_with_min_max_vars_per_channel_gradient(gradients: _Any, inputs: _Any, min: _Any, max: _Any, num_bits: _Any = 8, narrow_range: _Any = False, name: _builtins.str | None = None) -> _Any: ...
def matching_files(pattern: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def read_file(filename: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def write_file(filename: _Any, contents: _Any, name: _builtins.str | None = None) -> _Any: ...
def random_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _Tensor: ...
def truncated_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = ..., seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _Tensor: ...
def get_local_variable(name: _builtins.str, shape: _Any = None, dtype: _Any = None, initializer: _Any = None, regularizer: _Any = None, trainable: _builtins.bool | None = False, collections: _Any = None, caching_device: _Any = None, partitioner: _Any = None, validate_shape: _builtins.bool = True, use_resource: _builtins.bool | None = None, custom_getter: _Any = None, constraint: _Any = None, synchronization: _Any = ..., aggregation: _Any = ...) -> _Any: ...
def scatter_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_div(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_max(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_min(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_mul(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_nd_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_nd_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_nd_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = True, name: _builtins.str | None = None) -> _Any: ...
def scatter_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def scatter_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _builtins.bool = True, name: _builtins.str | None = None) -> _Any: ...
