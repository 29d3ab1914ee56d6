"""Names of `tensorflow.python.autograph`: base classes of other projects' converters."""

import ast


class Base(ast.NodeTransformer):
    """A pass over a function's syntax tree."""
