"""Savers, checkpoints of objects, meta graphs."""
