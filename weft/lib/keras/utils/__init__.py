"""Shared functions of the parts of Keras, and functions for programs besides models."""

from weft.lib.keras.lookup import finder

__getattr__ = finder(__name__, __path__)
