"""tf.saved_model: public names, re-exported from where they are made."""

from weft.lib.saved_model.builder import SavedModelBuilder as Builder
from weft.lib.saved_model.constants import (
    ASSETS_DIRECTORY as ASSETS_DIRECTORY,
    ASSETS_KEY as ASSETS_KEY,
    LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY as MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION,
    VARIABLES_DIRECTORY as VARIABLES_DIRECTORY,
    VARIABLES_FILENAME as VARIABLES_FILENAME,
)
from weft.lib.saved_model.files import (
    contains_saved_model as contains_saved_model,
    maybe_saved_model_directory as maybe_saved_model_directory,
)
from weft.lib.saved_model.load import load_v2 as load_v2
from weft.lib.saved_model.loader import load as load
from weft.lib.saved_model.main_op import main_op_with_restore as main_op_with_restore
from weft.lib.saved_model.save import save as save
from weft.lib.saved_model.signature_constants import (
    CLASSIFY_INPUTS as CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    PREDICT_INPUTS as PREDICT_INPUTS,
    PREDICT_METHOD_NAME as PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS as PREDICT_OUTPUTS,
    REGRESS_INPUTS as REGRESS_INPUTS,
    REGRESS_METHOD_NAME as REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS as REGRESS_OUTPUTS,
)
from weft.lib.saved_model.signatures import (
    build_signature_def as build_signature_def,
    classification_signature_def as classification_signature_def,
    is_valid_signature as is_valid_signature,
    predict_signature_def as predict_signature_def,
    regression_signature_def as regression_signature_def,
)
from weft.lib.saved_model.simple_save import simple_save as simple_save
from weft.lib.saved_model.tag_constants import (
    GPU as GPU,
    SERVING as SERVING,
    TPU as TPU,
    TRAINING as TRAINING,
)
from weft.lib.saved_model.tensor_info import (
    build_tensor_info as build_tensor_info,
    get_tensor_from_tensor_info as get_tensor_from_tensor_info,
)
from weft.api.saved_model import builder as builder
from weft.api.saved_model import constants as constants
from weft.api.saved_model import experimental as experimental
from weft.api.saved_model import loader as loader
from weft.api.saved_model import main_op as main_op
from weft.api.saved_model import signature_constants as signature_constants
from weft.api.saved_model import signature_def_utils as signature_def_utils
from weft.api.saved_model import tag_constants as tag_constants
from weft.api.saved_model import utils as utils
