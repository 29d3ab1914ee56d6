"""Keras's specification of a layer's inputs, under the name it has here."""

from weft.lib.keras.engine.input_spec import InputSpec as InputSpec
