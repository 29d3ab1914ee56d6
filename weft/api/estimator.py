"""tf.estimator: public names, re-exported from where they are made."""

from weft.estimator.canned.baseline import (
    BaselineClassifier as BaselineClassifier,
    BaselineEstimator as BaselineEstimator,
    BaselineRegressor as BaselineRegressor,
)
from weft.estimator.canned.boosted_trees import (
    BoostedTreesClassifier as BoostedTreesClassifier,
    BoostedTreesEstimator as BoostedTreesEstimator,
    BoostedTreesRegressor as BoostedTreesRegressor,
)
from weft.estimator.canned.dnn import (
    DNNClassifier as DNNClassifier,
    DNNEstimator as DNNEstimator,
    DNNRegressor as DNNRegressor,
)
from weft.estimator.canned.dnn_linear_combined import (
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
)
from weft.estimator.canned.linear import (
    LinearClassifier as LinearClassifier,
    LinearEstimator as LinearEstimator,
    LinearRegressor as LinearRegressor,
)
from weft.estimator.estimator import Estimator as Estimator
from weft.estimator.exporters import (
    BestExporter as BestExporter,
    Exporter as Exporter,
    FinalExporter as FinalExporter,
    LatestExporter as LatestExporter,
)
from weft.estimator.extenders import add_metrics as add_metrics
from weft.estimator.heads.base import Head as Head
from weft.estimator.heads.binary import BinaryClassHead as BinaryClassHead
from weft.estimator.heads.multi_class import MultiClassHead as MultiClassHead
from weft.estimator.heads.multi_head import MultiHead as MultiHead
from weft.estimator.heads.multi_label import MultiLabelHead as MultiLabelHead
from weft.estimator.heads.regression import (
    LogisticRegressionHead as LogisticRegressionHead,
    PoissonRegressionHead as PoissonRegressionHead,
    RegressionHead as RegressionHead,
)
from weft.estimator.parsing import (
    classifier_parse_example_spec as classifier_parse_example_spec,
    regressor_parse_example_spec as regressor_parse_example_spec,
)
from weft.estimator.run_config import RunConfig as RunConfig
from weft.estimator.spec import (
    EstimatorSpec as EstimatorSpec,
    ModeKeys as ModeKeys,
)
from weft.estimator.train_eval_specs import (
    EvalSpec as EvalSpec,
    TrainSpec as TrainSpec,
)
from weft.estimator.training import train_and_evaluate as train_and_evaluate
from weft.estimator.warm_start import WarmStartSettings as WarmStartSettings
from weft.train.checkpoint_warm_start import VocabInfo as VocabInfo
from weft.train.hooks import (
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
from weft.train.hooks_saving import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
    ProfilerHook as ProfilerHook,
    SummarySaverHook as SummarySaverHook,
)
from weft.train.session_run_hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from weft.api import estimator_experimental as experimental
from weft.api import estimator_export as export
from weft.api import estimator_inputs as inputs
from weft.api import estimator_tpu as tpu
