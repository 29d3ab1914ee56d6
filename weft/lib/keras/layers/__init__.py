"""tf.keras.layers: the layers, one module for each kind."""

from weft.lib.keras.lookup import finder

__getattr__ = finder(
    __name__,
    __path__,
    "weft.lib.keras.engine.base_layer",
    "weft.lib.keras.engine.input_layer",
    "weft.lib.keras.engine.input_spec",
    "weft.lib.feature_column.layers",
)
