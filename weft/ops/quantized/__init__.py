"""Quantized arithmetic and its simulation in floats."""
