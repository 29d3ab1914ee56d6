# Written by `make stubs` from weft/api/saved_model/signature_def_utils.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.signatures import build_signature_def as build_signature_def
from weft.lib.saved_model.signatures import classification_signature_def as classification_signature_def
from weft.lib.saved_model.signatures import is_valid_signature as is_valid_signature
from weft.lib.saved_model.signatures import predict_signature_def as predict_signature_def
from weft.lib.saved_model.signatures import regression_signature_def as regression_signature_def
