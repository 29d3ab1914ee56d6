# Written by `make stubs` from weft/lib/contrib/learn/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.contrib.learn import datasets as datasets
from weft.lib.contrib.learn import learn_runner as learn_runner
from weft.lib.contrib.learn import monitors as monitors
from weft.lib.contrib.learn import preprocessing as preprocessing
from weft.lib.contrib.learn.canned import DNNClassifier as DNNClassifier
from weft.lib.contrib.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from weft.lib.contrib.learn.canned import DNNRegressor as DNNRegressor
from weft.lib.contrib.learn.canned import LinearClassifier as LinearClassifier
from weft.lib.contrib.learn.canned import LinearRegressor as LinearRegressor
from weft.lib.contrib.learn.canned import infer_real_valued_columns_from_input as infer_real_valued_columns_from_input
from weft.lib.contrib.learn.canned import infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn
from weft.lib.contrib.learn.estimator import Estimator as Estimator
from weft.lib.contrib.learn.estimator import SKCompat as SKCompat
from weft.lib.contrib.learn.experiment import Experiment as Experiment
from weft.lib.contrib.learn.experiment import ExportStrategy as ExportStrategy
from weft.lib.contrib.learn.experiment import make_export_strategy as make_export_strategy
from weft.lib.contrib.learn.metric_spec import MetricSpec as MetricSpec
from weft.lib.contrib.learn.model_fn import ModeKeys as ModeKeys
from weft.lib.contrib.learn.model_fn import ModelFnOps as ModelFnOps
from weft.lib.contrib.learn.run_config import RunConfig as RunConfig
from weft.lib.contrib.learn.run_config import TaskType as TaskType
from weft.lib.train.sessions.hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
