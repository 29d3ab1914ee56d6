"""tf.contrib.tensor_forest: random forests that learn from batches."""

from weft.lib.contrib.tensor_forest import client as client
from weft.lib.contrib.tensor_forest import data_ops as data_ops
from weft.lib.contrib.tensor_forest.graphs import ForestVariables as ForestVariables
from weft.lib.contrib.tensor_forest.graphs import RandomForestGraphs as RandomForestGraphs
from weft.lib.contrib.tensor_forest.graphs import RandomTreeGraphs as RandomTreeGraphs
from weft.lib.contrib.tensor_forest.graphs import TrainingLossForest as TrainingLossForest
from weft.lib.contrib.tensor_forest.graphs import TreeVariables as TreeVariables
from weft.lib.contrib.tensor_forest.hparams import ForestHParams as ForestHParams
