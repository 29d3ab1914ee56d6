"""Graphs, operations and tensors as HTML, for notebooks."""
