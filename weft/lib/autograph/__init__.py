"""tf.autograph: Python control flow over tensors (docs/functions.md).

A function's source becomes a syntax tree (`source.py`), its jumps become flags (`exits.py`), its
conditionals and loops functions (`rewrite.py`), and the result is compiled in its place
(`compile.py`). What it does when it runs is in `operators.py`.
"""

from weft.lib.autograph import experimental as experimental
from weft.lib.autograph.api import to_code as to_code
from weft.lib.autograph.api import to_graph as to_graph
from weft.lib.autograph.context import set_verbosity as set_verbosity
from weft.lib.autograph.context import trace as trace
