"""Training and evaluation of an Estimator in the replicas of a distribution strategy."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph, add_to_collection, get_default_graph
from weft.graph.random_seed import set_random_seed
from weft.lib.distribute.context import get_loss_reduction
from weft.lib.estimator import eval_results
from weft.lib.estimator.input_results import DatasetInitializerHook, parse_iterator_result
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.train.sessions.scaffold import Scaffold
from weft.ops.array import array
from weft.ops.control.control import group
from weft.ops.state.global_step import GLOBAL_STEP_READ_KEY
from weft.ops.state.reduce_op import ReduceOp


def train(estimator: Any, strategy: Any, input_fn: Any, hooks: Any, listeners: Any) -> Any:
    """Trains one copy of the model for each replica; the loss of the last step."""
    strategy.configure(estimator._session_config)
    with Graph().as_default() as graph:
        with strategy.scope(), strategy._scale_loss_for_estimator_enabled():
            set_random_seed(estimator._config.tf_random_seed)
            iterator, input_hooks = _iterator(estimator, strategy, input_fn, ModeKeys.TRAIN)
            step = estimator._create_and_assert_global_step(graph)
            # Here, and not by each replica.
            add_to_collection(GLOBAL_STEP_READ_KEY, strategy.extended.read_var(step))
            specs = _call_model_fn(estimator, strategy, iterator, ModeKeys.TRAIN)
            spec = EstimatorSpec(
                mode=ModeKeys.TRAIN,
                loss=strategy.reduce(_reported_reduction(), specs.loss, axis=None),
                train_op=strategy.group(specs.train_op),
                training_hooks=_first(strategy, specs.training_hooks),
                training_chief_hooks=_first(strategy, specs.training_chief_hooks),
                scaffold=_combined_scaffold(strategy, specs.scaffold),
            )
            return estimator._train_with_estimator_spec(spec, input_hooks, hooks, step, listeners)


def build_eval(estimator: Any, strategy: Any, input_fn: Any) -> tuple[Any, Any, Any, Any, Any]:
    """(scaffold, update of the metrics, metrics by name, hooks of the input, those of the model)"""
    iterator, input_hooks = _iterator(estimator, strategy, input_fn, ModeKeys.EVAL)
    specs = _call_model_fn(estimator, strategy, iterator, ModeKeys.EVAL)
    metrics = dict(specs.eval_metric_ops or {})
    eval_results.check_no_loss_metric(metrics)
    metrics[eval_results.LOSS_METRIC_KEY] = strategy.extended.call_for_each_replica(
        eval_results.mean, (specs.loss,)
    )
    ordered = sorted(metrics.items())
    update = group(*[strategy.group(update) for _, (_, update) in ordered])
    values = {name: strategy.experimental_local_results(value)[0] for name, (value, _) in ordered}
    hooks = _first(strategy, specs.evaluation_hooks)
    return _combined_scaffold(strategy, specs.scaffold), update, values, input_hooks, hooks


def _iterator(estimator: Any, strategy: Any, input_fn: Any, mode: str) -> tuple[Any, list[Any]]:
    iterator = strategy.make_input_fn_iterator(
        lambda context: estimator._call_input_fn(input_fn, mode, context)
    )
    return iterator, [DatasetInitializerHook(iterator)]


def _call_model_fn(estimator: Any, strategy: Any, iterator: Any, mode: str) -> Any:
    """The results of the model function in all replicas, as one EstimatorSpec."""
    features, labels = parse_iterator_result(iterator.get_next())
    return strategy.extended.call_for_each_replica(
        estimator._call_model_fn, (features, labels, mode, estimator.config)
    )


def _reported_reduction() -> ReduceOp:
    """The loss that is shown is that which was trained on."""
    scaled = getattr(get_default_graph(), "_is_loss_scaled_by_optimizer", False)
    return get_loss_reduction() if scaled else ReduceOp.SUM


def _first(strategy: Any, hooks: Any) -> list[Any]:
    """The hooks of the first replica."""
    return [strategy.experimental_local_results(hook)[0] for hook in hooks]


def _combined_scaffold(strategy: Any, grouped: Any) -> Scaffold:
    """One scaffold that does what those of all replicas do."""
    scaffolds = strategy.experimental_local_results(grouped)

    def all_of(name: str) -> list[Any]:
        return [getattr(each, name) for each in scaffolds if getattr(each, name) is not None]

    def joined(name: str) -> Any:
        found = all_of(name)
        return group(*found) if found else None

    def first(name: str) -> Any:
        return next(iter(all_of(name)), None)

    def report(name: str) -> Any:
        found = all_of(name)
        return array.concat(found, 0) if len(found) > 1 else first(name)

    return Scaffold(
        init_op=joined("init_op"),
        ready_op=report("ready_op"),
        ready_for_local_init_op=report("ready_for_local_init_op"),
        local_init_op=joined("local_init_op"),
        summary_op=first("summary_op"),
        saver=first("saver"),
        init_feed_dict=first("init_feed_dict"),
        init_fn=first("_user_init_fn"),
    )
