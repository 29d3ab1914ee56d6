# Written by `make stubs` from weft/api/graph_util.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.graph.graph_util import convert_variables_to_constants as convert_variables_to_constants
from weft.graph.graph_util import extract_sub_graph as extract_sub_graph
from weft.graph.graph_util import must_run_on_cpu as must_run_on_cpu
from weft.graph.graph_util import remove_training_nodes as remove_training_nodes
from weft.graph.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
from weft.graph.importer import import_graph_def as import_graph_def
