# Written by `make stubs` from weft/api/estimator/export.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.saved_model.export_outputs import ClassificationOutput as ClassificationOutput
from weft.lib.saved_model.export_outputs import ExportOutput as ExportOutput
from weft.lib.saved_model.export_outputs import PredictOutput as PredictOutput
from weft.lib.saved_model.export_outputs import RegressionOutput as RegressionOutput
from weft.lib.estimator.receivers import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn
from weft.lib.estimator.receivers import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn
from weft.lib.estimator.receivers import ServingInputReceiver as ServingInputReceiver
from weft.lib.estimator.receivers import TensorServingInputReceiver as TensorServingInputReceiver
