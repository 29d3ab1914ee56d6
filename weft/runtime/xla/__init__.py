"""Regions traced, lowered and compiled into XLA programs."""
