# Written by `make stubs` from weft/api/saved_model/signature_constants.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.signature_constants import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from weft.lib.saved_model.signature_constants import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from weft.lib.saved_model.signature_constants import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from weft.lib.saved_model.signature_constants import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.saved_model.signature_constants import PREDICT_INPUTS as PREDICT_INPUTS
from weft.lib.saved_model.signature_constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from weft.lib.saved_model.signature_constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from weft.lib.saved_model.signature_constants import REGRESS_INPUTS as REGRESS_INPUTS
from weft.lib.saved_model.signature_constants import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from weft.lib.saved_model.signature_constants import REGRESS_OUTPUTS as REGRESS_OUTPUTS
