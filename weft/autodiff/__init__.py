"""Gradients: graph in, larger graph out."""

from weft.autodiff import eager  # noqa: F401  (registers a gradient)
