"""tf.keras: public names, re-exported from where they are made."""

from weft.keras.engine.input_layer import Input as Input
from weft.keras.engine.network_saving import KERAS_VERSION as __version__
from weft.keras.engine.sequential import Sequential as Sequential
from weft.keras.engine.training import Model as Model
from weft.api import keras_activations as activations
from weft.api import keras_applications as applications
from weft.api import keras_backend as backend
from weft.api import keras_callbacks as callbacks
from weft.api import keras_constraints as constraints
from weft.api import keras_datasets as datasets
from weft.api import keras_estimator as estimator
from weft.api import keras_experimental as experimental
from weft.api import keras_initializers as initializers
from weft.api import keras_layers as layers
from weft.api import keras_losses as losses
from weft.api import keras_metrics as metrics
from weft.api import keras_mixed_precision as mixed_precision
from weft.api import keras_models as models
from weft.api import keras_optimizers as optimizers
from weft.api import keras_preprocessing as preprocessing
from weft.api import keras_regularizers as regularizers
from weft.api import keras_utils as utils
from weft.api import keras_wrappers as wrappers
