"""tf.contrib.learn: what programs use of the library that `tf.estimator` grew out of."""

from weft.lib.contrib.learn import datasets as datasets
from weft.lib.contrib.learn import head as head
from weft.lib.contrib.learn import io as io
from weft.lib.contrib.learn import learn_runner as learn_runner
from weft.lib.contrib.learn import models as models
from weft.lib.contrib.learn import monitors as monitors
from weft.lib.contrib.learn import ops as ops
from weft.lib.contrib.learn import preprocessing as preprocessing
from weft.lib.contrib.learn import utils as utils
from weft.lib.contrib.learn.canned import DNNClassifier as DNNClassifier
from weft.lib.contrib.learn.canned import DNNEstimator as DNNEstimator
from weft.lib.contrib.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from weft.lib.contrib.learn.canned import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
from weft.lib.contrib.learn.canned import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
from weft.lib.contrib.learn.canned import DNNRegressor as DNNRegressor
from weft.lib.contrib.learn.canned import LinearClassifier as LinearClassifier
from weft.lib.contrib.learn.canned import LinearEstimator as LinearEstimator
from weft.lib.contrib.learn.canned import LinearRegressor as LinearRegressor
from weft.lib.contrib.learn.canned import (
    infer_real_valued_columns_from_input as infer_real_valued_columns_from_input,
)
from weft.lib.contrib.learn.canned import (
    infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn,
)
from weft.lib.contrib.learn.dynamic_rnn_estimator import (
    DynamicRnnEstimator as DynamicRnnEstimator,
)
from weft.lib.contrib.learn.estimator import BaseEstimator as BaseEstimator
from weft.lib.contrib.learn.estimator import Estimator as Estimator
from weft.lib.contrib.learn.estimator import Evaluable as Evaluable
from weft.lib.contrib.learn.estimator import SKCompat as SKCompat
from weft.lib.contrib.learn.estimator import Trainable as Trainable
from weft.lib.contrib.learn.experiment import Experiment as Experiment
from weft.lib.contrib.learn.experiment import ExportStrategy as ExportStrategy
from weft.lib.contrib.learn.experiment import make_export_strategy as make_export_strategy
from weft.lib.contrib.learn.head import Head as Head
from weft.lib.contrib.learn.head import binary_svm_head as binary_svm_head
from weft.lib.contrib.learn.head import multi_class_head as multi_class_head
from weft.lib.contrib.learn.head import multi_head as multi_head
from weft.lib.contrib.learn.head import multi_label_head as multi_label_head
from weft.lib.contrib.learn.head import no_op_train_fn as no_op_train_fn
from weft.lib.contrib.learn.head import poisson_regression_head as poisson_regression_head
from weft.lib.contrib.learn.head import regression_head as regression_head
from weft.lib.contrib.learn.keys import PredictionKey as PredictionKey
from weft.lib.contrib.learn.keys import ProblemType as ProblemType
from weft.lib.contrib.learn.metric_spec import MetricSpec as MetricSpec
from weft.lib.contrib.learn.model_fn import ModeKeys as ModeKeys
from weft.lib.contrib.learn.model_fn import ModelFnOps as ModelFnOps
from weft.lib.contrib.learn.other_models import SVM as SVM
from weft.lib.contrib.learn.other_models import KMeansClustering as KMeansClustering
from weft.lib.contrib.learn.other_models import LogisticRegressor as LogisticRegressor
from weft.lib.contrib.learn.pandas_io import extract_dask_data as extract_dask_data
from weft.lib.contrib.learn.pandas_io import extract_dask_labels as extract_dask_labels
from weft.lib.contrib.learn.pandas_io import extract_pandas_data as extract_pandas_data
from weft.lib.contrib.learn.pandas_io import extract_pandas_labels as extract_pandas_labels
from weft.lib.contrib.learn.pandas_io import extract_pandas_matrix as extract_pandas_matrix
from weft.lib.contrib.learn.reading import read_batch_examples as read_batch_examples
from weft.lib.contrib.learn.reading import read_batch_features as read_batch_features
from weft.lib.contrib.learn.reading import read_batch_record_features as read_batch_record_features
from weft.lib.contrib.learn.reading import read_keyed_batch_examples as read_keyed_batch_examples
from weft.lib.contrib.learn.reading import read_keyed_batch_features as read_keyed_batch_features
from weft.lib.contrib.learn.run_config import RunConfig as RunConfig
from weft.lib.contrib.learn.run_config import TaskType as TaskType
from weft.lib.contrib.learn.scores import NotFittedError as NotFittedError
from weft.lib.contrib.learn.utils.input_fn_utils import InputFnOps as InputFnOps
from weft.lib.contrib.learn.utils.input_fn_utils import (
    build_parsing_serving_input_fn as build_parsing_serving_input_fn,
)
from weft.lib.train.sessions.hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
