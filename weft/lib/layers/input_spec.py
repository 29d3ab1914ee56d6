"""What a layer says of its inputs: Keras's, under the name it has here."""

from weft.lib.keras.engine.input_spec import InputSpec as InputSpec
