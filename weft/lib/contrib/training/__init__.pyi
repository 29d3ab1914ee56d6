# Written by `make stubs` from weft/lib/contrib/training/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.contrib.training.bucket import bucket as bucket
from weft.lib.contrib.training.bucket import bucket_by_sequence_length as bucket_by_sequence_length
from weft.lib.contrib.training.hparam import HParams as HParams
from weft.lib.contrib.training.hparam import parse_values as parse_values
from weft.lib.contrib.training.placement import GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy
from weft.lib.contrib.training.placement import RandomStrategy as RandomStrategy
from weft.lib.contrib.training.placement import byte_size_load_fn as byte_size_load_fn
from weft.lib.contrib.training.sampling import rejection_sample as rejection_sample
from weft.lib.contrib.training.sampling import resample_at_rate as resample_at_rate
from weft.lib.contrib.training.sampling import stratified_sample as stratified_sample
from weft.lib.contrib.training.sampling import weighted_resample as weighted_resample
from weft.lib.contrib.training.train_op import add_gradients_summaries as add_gradients_summaries
from weft.lib.contrib.training.train_op import clip_gradient_norms as clip_gradient_norms
from weft.lib.contrib.training.train_op import clip_gradient_norms_fn as clip_gradient_norms_fn
from weft.lib.contrib.training.train_op import create_train_op as create_train_op
from weft.lib.contrib.training.train_op import multiply_gradients as multiply_gradients
from weft.lib.contrib.training.train_op import train as train
from weft.lib.train.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from weft.lib.train.evaluation import SummaryAtEndHook as SummaryAtEndHook
from weft.lib.train.evaluation import checkpoints_iterator as checkpoints_iterator
from weft.lib.train.evaluation import evaluate_once as evaluate_once
from weft.lib.train.evaluation import evaluate_repeatedly as evaluate_repeatedly
from weft.lib.train.evaluation import get_or_create_eval_step as get_or_create_eval_step
from weft.lib.train.evaluation import wait_for_new_checkpoint as wait_for_new_checkpoint
