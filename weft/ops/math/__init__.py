"""Arithmetic, reductions, comparison and sorting."""
