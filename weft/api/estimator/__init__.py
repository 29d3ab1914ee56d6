"""tf.estimator: public names, re-exported from where they are made."""

from weft.lib.estimator.canned.baseline import (
    BaselineClassifier as BaselineClassifier,
    BaselineEstimator as BaselineEstimator,
    BaselineRegressor as BaselineRegressor,
)
from weft.lib.estimator.canned.boosted_trees import (
    BoostedTreesClassifier as BoostedTreesClassifier,
    BoostedTreesEstimator as BoostedTreesEstimator,
    BoostedTreesRegressor as BoostedTreesRegressor,
)
from weft.lib.estimator.canned.dnn import (
    DNNClassifier as DNNClassifier,
    DNNEstimator as DNNEstimator,
    DNNRegressor as DNNRegressor,
)
from weft.lib.estimator.canned.dnn_linear_combined import (
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
)
from weft.lib.estimator.canned.linear import (
    LinearClassifier as LinearClassifier,
    LinearEstimator as LinearEstimator,
    LinearRegressor as LinearRegressor,
)
from weft.lib.estimator.estimator import Estimator as Estimator
from weft.lib.estimator.exporters import (
    BestExporter as BestExporter,
    Exporter as Exporter,
    FinalExporter as FinalExporter,
    LatestExporter as LatestExporter,
)
from weft.lib.estimator.extenders import add_metrics as add_metrics
from weft.lib.estimator.heads.base import Head as Head
from weft.lib.estimator.heads.binary import BinaryClassHead as BinaryClassHead
from weft.lib.estimator.heads.multi_class import MultiClassHead as MultiClassHead
from weft.lib.estimator.heads.multi_head import MultiHead as MultiHead
from weft.lib.estimator.heads.multi_label import MultiLabelHead as MultiLabelHead
from weft.lib.estimator.heads.regression import (
    LogisticRegressionHead as LogisticRegressionHead,
    PoissonRegressionHead as PoissonRegressionHead,
    RegressionHead as RegressionHead,
)
from weft.lib.estimator.parsing import (
    classifier_parse_example_spec as classifier_parse_example_spec,
    regressor_parse_example_spec as regressor_parse_example_spec,
)
from weft.lib.estimator.run_config import RunConfig as RunConfig
from weft.lib.estimator.spec import EstimatorSpec as EstimatorSpec, ModeKeys as ModeKeys
from weft.lib.estimator.train_eval_specs import EvalSpec as EvalSpec, TrainSpec as TrainSpec
from weft.lib.estimator.training import train_and_evaluate as train_and_evaluate
from weft.lib.estimator.warm_start import WarmStartSettings as WarmStartSettings
from weft.lib.train.checkpoint.warm_start import VocabInfo as VocabInfo
from weft.lib.train.sessions.hooks import (
    FeedFnHook as FeedFnHook,
    FinalOpsHook as FinalOpsHook,
    GlobalStepWaiterHook as GlobalStepWaiterHook,
    LoggingTensorHook as LoggingTensorHook,
    NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook,
    SecondOrStepTimer as SecondOrStepTimer,
    StepCounterHook as StepCounterHook,
    StopAtStepHook as StopAtStepHook,
)
from weft.lib.train.sessions.hooks_saving import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
    ProfilerHook as ProfilerHook,
    SummarySaverHook as SummarySaverHook,
)
from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from weft.api.estimator import experimental as experimental
from weft.api.estimator import export as export
from weft.api.estimator import inputs as inputs
from weft.api.estimator import tpu as tpu
