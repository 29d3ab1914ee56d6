"""What the parts of Keras share, and what programs use besides models."""

from weft.keras.lookup import finder

__getattr__ = finder(__name__, __path__)
