"""tf.contrib.timeseries: models of values that follow each other in time, as Estimators."""

from weft.lib.contrib.timeseries import saved_model_utils as saved_model_utils
from weft.lib.contrib.timeseries.autoregressive import ARModel as ARModel
from weft.lib.contrib.timeseries.head import OneShotPredictionHead as OneShotPredictionHead
from weft.lib.contrib.timeseries.inputs import RandomWindowInputFn as RandomWindowInputFn
from weft.lib.contrib.timeseries.inputs import WholeDatasetInputFn as WholeDatasetInputFn
from weft.lib.contrib.timeseries.inputs import (
    predict_continuation_input_fn as predict_continuation_input_fn,
)
from weft.lib.contrib.timeseries.keys import FilteringResults as FilteringResults
from weft.lib.contrib.timeseries.keys import TrainEvalFeatures as TrainEvalFeatures
from weft.lib.contrib.timeseries.readers import CSVReader as CSVReader
from weft.lib.contrib.timeseries.readers import NumpyReader as NumpyReader
from weft.lib.contrib.timeseries.regressors import ARRegressor as ARRegressor
from weft.lib.contrib.timeseries.regressors import (
    StructuralEnsembleRegressor as StructuralEnsembleRegressor,
)
from weft.lib.contrib.timeseries.regressors import TimeSeriesRegressor as TimeSeriesRegressor
