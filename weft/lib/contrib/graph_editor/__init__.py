"""tf.contrib.graph_editor: parts of a graph chosen, walked, copied and rewired."""

from weft.lib.contrib.graph_editor.detaching import ControlOutputs as ControlOutputs
from weft.lib.contrib.graph_editor.detaching import bypass as bypass
from weft.lib.contrib.graph_editor.detaching import can_be_regex as can_be_regex
from weft.lib.contrib.graph_editor.detaching import check_cios as check_cios
from weft.lib.contrib.graph_editor.detaching import connect as connect
from weft.lib.contrib.graph_editor.detaching import detach as detach
from weft.lib.contrib.graph_editor.detaching import detach_control_inputs as detach_control_inputs
from weft.lib.contrib.graph_editor.detaching import detach_control_outputs as detach_control_outputs
from weft.lib.contrib.graph_editor.detaching import detach_inputs as detach_inputs
from weft.lib.contrib.graph_editor.detaching import detach_outputs as detach_outputs
from weft.lib.contrib.graph_editor.detaching import get_consuming_ops as get_consuming_ops
from weft.lib.contrib.graph_editor.detaching import get_generating_ops as get_generating_ops
from weft.lib.contrib.graph_editor.detaching import make_regex as make_regex
from weft.lib.contrib.graph_editor.rewiring import add_control_inputs as add_control_inputs
from weft.lib.contrib.graph_editor.rewiring import remove_control_inputs as remove_control_inputs
from weft.lib.contrib.graph_editor.rewiring import reroute_inputs as reroute_inputs
from weft.lib.contrib.graph_editor.rewiring import reroute_ios as reroute_ios
from weft.lib.contrib.graph_editor.rewiring import reroute_outputs as reroute_outputs
from weft.lib.contrib.graph_editor.rewiring import reroute_ts as reroute_ts
from weft.lib.contrib.graph_editor.rewiring import swap_inputs as swap_inputs
from weft.lib.contrib.graph_editor.rewiring import swap_ios as swap_ios
from weft.lib.contrib.graph_editor.rewiring import swap_outputs as swap_outputs
from weft.lib.contrib.graph_editor.rewiring import swap_ts as swap_ts
from weft.lib.contrib.graph_editor.selecting import compute_boundary_ts as compute_boundary_ts
from weft.lib.contrib.graph_editor.selecting import filter_ops as filter_ops
from weft.lib.contrib.graph_editor.selecting import filter_ops_from_regex as filter_ops_from_regex
from weft.lib.contrib.graph_editor.selecting import filter_ts as filter_ts
from weft.lib.contrib.graph_editor.selecting import filter_ts_from_regex as filter_ts_from_regex
from weft.lib.contrib.graph_editor.selecting import get_name_scope_ops as get_name_scope_ops
from weft.lib.contrib.graph_editor.selecting import get_ops_ios as get_ops_ios
from weft.lib.contrib.graph_editor.selecting import get_tensors as get_tensors
from weft.lib.contrib.graph_editor.selecting import make_list_of_op as make_list_of_op
from weft.lib.contrib.graph_editor.selecting import make_list_of_t as make_list_of_t
from weft.lib.contrib.graph_editor.selecting import select_ops as select_ops
from weft.lib.contrib.graph_editor.selecting import select_ops_and_ts as select_ops_and_ts
from weft.lib.contrib.graph_editor.selecting import select_ts as select_ts
from weft.lib.contrib.graph_editor.subgraph import SubGraphView as SubGraphView
from weft.lib.contrib.graph_editor.subgraph import make_view as make_view
from weft.lib.contrib.graph_editor.subgraph import make_view_from_scope as make_view_from_scope
from weft.lib.contrib.graph_editor.transforming import Transformer as Transformer
from weft.lib.contrib.graph_editor.transforming import TransformerInfo as TransformerInfo
from weft.lib.contrib.graph_editor.transforming import copy as copy
from weft.lib.contrib.graph_editor.transforming import (
    copy_with_input_replacements as copy_with_input_replacements,
)
from weft.lib.contrib.graph_editor.transforming import graph_replace as graph_replace
from weft.lib.contrib.graph_editor.transforming import (
    make_placeholder_from_dtype_and_shape as make_placeholder_from_dtype_and_shape,
)
from weft.lib.contrib.graph_editor.transforming import (
    make_placeholder_from_tensor as make_placeholder_from_tensor,
)
from weft.lib.contrib.graph_editor.transforming import placeholder_name as placeholder_name
from weft.lib.contrib.graph_editor.walking import get_backward_walk_ops as get_backward_walk_ops
from weft.lib.contrib.graph_editor.walking import get_forward_walk_ops as get_forward_walk_ops
from weft.lib.contrib.graph_editor.walking import (
    get_walks_intersection_ops as get_walks_intersection_ops,
)
from weft.lib.contrib.graph_editor.walking import get_walks_union_ops as get_walks_union_ops
from weft.lib.contrib.graph_editor.walking import get_within_boundary_ops as get_within_boundary_ops

sgv = make_view
sgv_scope = make_view_from_scope
ph = make_placeholder_from_dtype_and_shape
