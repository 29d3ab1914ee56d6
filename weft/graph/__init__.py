"""The client graph, as data."""

# In this order: applying an op needs conversion, which needs the graph, which needs op_def.
from weft.graph import op_def, graph, constant, convert, apply, slices  # noqa: F401, I001
