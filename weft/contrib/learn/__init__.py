"""tf.contrib.learn: what programs use of the library that `tf.estimator` grew out of."""

from weft.contrib.learn import datasets as datasets
from weft.contrib.learn import learn_runner as learn_runner
from weft.contrib.learn import monitors as monitors
from weft.contrib.learn import preprocessing as preprocessing
from weft.contrib.learn.canned import DNNClassifier as DNNClassifier
from weft.contrib.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from weft.contrib.learn.canned import DNNRegressor as DNNRegressor
from weft.contrib.learn.canned import LinearClassifier as LinearClassifier
from weft.contrib.learn.canned import LinearRegressor as LinearRegressor
from weft.contrib.learn.canned import (
    infer_real_valued_columns_from_input as infer_real_valued_columns_from_input,
)
from weft.contrib.learn.canned import (
    infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn,
)
from weft.contrib.learn.estimator import Estimator as Estimator
from weft.contrib.learn.estimator import SKCompat as SKCompat
from weft.contrib.learn.experiment import Experiment as Experiment
from weft.contrib.learn.experiment import ExportStrategy as ExportStrategy
from weft.contrib.learn.experiment import make_export_strategy as make_export_strategy
from weft.contrib.learn.metric_spec import MetricSpec as MetricSpec
from weft.contrib.learn.model_fn import ModeKeys as ModeKeys
from weft.contrib.learn.model_fn import ModelFnOps as ModelFnOps
from weft.contrib.learn.run_config import RunConfig as RunConfig
from weft.contrib.learn.run_config import TaskType as TaskType
from weft.train.hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
