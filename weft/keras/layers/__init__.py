"""tf.keras.layers: the layers, one module for each kind."""

from weft.keras.lookup import finder

__getattr__ = finder(
    __name__,
    __path__,
    "weft.keras.engine.base_layer",
    "weft.keras.engine.input_layer",
    "weft.keras.engine.input_spec",
    "weft.feature_column.layers",
)
