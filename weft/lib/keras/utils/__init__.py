"""What the parts of Keras share, and what programs use besides models."""

from weft.lib.keras.lookup import finder

__getattr__ = finder(__name__, __path__)
