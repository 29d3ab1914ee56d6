"""Optimizers, learning rates, loss scales and moving averages."""
