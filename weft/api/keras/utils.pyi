# Written by `make stubs` from weft/api/keras/utils.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.engine.topology import get_source_inputs as get_source_inputs
from weft.lib.keras.utils.data_utils import GeneratorEnqueuer as GeneratorEnqueuer
from weft.lib.keras.utils.data_utils import OrderedEnqueuer as OrderedEnqueuer
from weft.lib.keras.utils.data_utils import Sequence as Sequence
from weft.lib.keras.utils.data_utils import SequenceEnqueuer as SequenceEnqueuer
from weft.lib.keras.utils.files import get_file as get_file
from weft.lib.keras.utils.generic import custom_object_scope as custom_object_scope
from weft.lib.keras.utils.generic import CustomObjectScope as CustomObjectScope
from weft.lib.keras.utils.generic import deserialize_keras_object as deserialize_keras_object
from weft.lib.keras.utils.generic import get_custom_objects as get_custom_objects
from weft.lib.keras.utils.generic import serialize_keras_object as serialize_keras_object
from weft.lib.keras.utils.io_utils import HDF5Matrix as HDF5Matrix
from weft.lib.keras.utils.layer_utils import convert_all_kernels_in_model as convert_all_kernels_in_model
from weft.lib.keras.utils.multi_gpu import multi_gpu_model as multi_gpu_model
from weft.lib.keras.utils.np_utils import normalize as normalize
from weft.lib.keras.utils.np_utils import to_categorical as to_categorical
from weft.lib.keras.utils.progress import Progbar as Progbar
from weft.lib.keras.utils.vis_utils import model_to_dot as model_to_dot
from weft.lib.keras.utils.vis_utils import plot_model as plot_model
