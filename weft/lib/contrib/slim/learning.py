"""Training loops: `train` runs a training operation under a supervisor."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto import config_pb2

from weft.core import errors
from weft.graph.constant import constant
from weft.graph.graph import control_dependencies, get_default_graph, name_scope
from weft.lib.contrib.training import train_op as training
from weft.lib.contrib.training.train_op import clip_gradient_norms as clip_gradient_norms
from weft.lib.contrib.training.train_op import multiply_gradients as multiply_gradients
from weft.lib.platform import tf_logging
from weft.lib.summary import summary
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state import global_step as training_util
from weft.ops.state import variables as variable_ops
from weft.storage import file_io

# Where None has a meaning of its own.
_USE_DEFAULT = 0

add_gradients_summaries = functools.partial(training.add_gradients_summaries, separator="/")


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = training.USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
) -> Any:
    """An op that runs the updates, one step of the optimizer, and returns the loss."""

    def transformed(pairs: Any) -> Any:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return training.create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops,
        variables_to_train,
        transformed,
        summarize_gradients,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        check_numerics,
    )


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """One step, logged and traced as `train_step_kwargs` say: the loss, and whether to stop."""
    start = time.time()
    traced = _trace_options(sess, train_step_kwargs)
    loss, step = sess.run([train_op, global_step], **traced)
    elapsed = time.time() - start
    if traced:
        _write_trace(traced["run_metadata"], step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        tf_logging.info(f"global step {step}: loss = {loss:.4f} ({elapsed:.3f} sec/step)")
    if "should_stop" not in train_step_kwargs:
        return loss, False
    return loss, sess.run(train_step_kwargs["should_stop"])


def _trace_options(sess: Any, given: dict[str, Any]) -> dict[str, Any]:
    if "should_trace" not in given:
        return {}
    if "logdir" not in given:
        raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
    if not sess.run(given["should_trace"]):
        return {}
    full = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
    return {"options": full, "run_metadata": config_pb2.RunMetadata()}


def _write_trace(run_metadata: Any, step: int, given: dict[str, Any]) -> None:
    from weft.client.timeline import Timeline

    path = os.path.join(given["logdir"], f"tf_trace-{step}.json")
    tf_logging.info(f"Writing trace to {path}")
    made = Timeline(run_metadata.step_stats).generate_chrome_trace_format()
    file_io.write_string_to_file(path, made)
    if given.get("summary_writer") is not None:
        given["summary_writer"].add_run_metadata(run_metadata, f"run_metadata-{step}")


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Any = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: Any = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: Any = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Runs `train_op` for `number_of_steps` or until stopped, saving on the way; the loss."""
    from weft.lib.train.checkpoint.saver import Saver
    from weft.lib.train.sessions.supervisor import Supervisor

    _check(train_op, logdir, summary_op, saver, trace_every_n_steps)
    synced = _synced(sync_optimizer, startup_delay_steps)
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = training_util.get_or_create_global_step()
        saver = saver or Saver()
        inits = _init_ops(init_op, ready_op, local_init_op, synced, is_chief)
        if summary_op is _USE_DEFAULT:
            summary_op = summary.merge_all()
        if summary_writer is _USE_DEFAULT:
            summary_writer = Supervisor.USE_DEFAULT
        chief = synced if is_chief else []
        tokens = [optimizer.get_init_tokens_op() for optimizer in chief]
        runners = [optimizer.get_chief_queue_runner() for optimizer in chief]
        if train_step_kwargs is _USE_DEFAULT:
            trace = trace_every_n_steps if is_chief else None
            train_step_kwargs = _step_kwargs(
                global_step, number_of_steps, log_every_n_steps, trace, logdir
            )
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_feed_dict=init_feed_dict,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
        **inits,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def run(sess: Any) -> Any:
        if session_wrapper is not None:
            sess = session_wrapper(sess)
        if is_chief and logdir:
            supervisor.start_standard_services(sess)
        elif not is_chief and startup_delay_steps > 0:
            most = number_of_steps or sys.maxsize
            _wait_for_step(sess, global_step, min(startup_delay_steps, most))
        threads = supervisor.start_queue_runners(sess)
        if tokens:
            supervisor.start_queue_runners(sess, runners)
            sess.run(tokens)
        loss = _loop(supervisor, sess, train_step_fn, train_op, global_step, train_step_kwargs)
        if logdir and supervisor.is_chief:
            _save_and_stop(supervisor, sess, threads, ignore_live_threads)
        return loss

    while True:
        try:
            with supervisor.managed_session(
                master, start_standard_services=False, config=session_config
            ) as sess:
                return run(sess)
        except errors.AbortedError:
            # Another process went away: start over from the last checkpoint.
            tf_logging.info("Retrying training!")


def _loop(
    supervisor: Any, sess: Any, step_fn: Any, train_op: Any, global_step: Any, given: dict[str, Any]
) -> Any:
    """The last loss, once a step says so, the supervisor does, or the input has come to its end."""
    loss, over = None, False
    try:
        while not over and not supervisor.should_stop():
            loss, over = step_fn(sess, train_op, global_step, given)
    except errors.OutOfRangeError as error:
        tf_logging.info(f"Caught OutOfRangeError. Stopping Training. {error}")
        return loss
    if over:
        tf_logging.info("Stopping Training.")
        supervisor.request_stop()
    return loss


def _save_and_stop(supervisor: Any, sess: Any, threads: Any, ignore_live_threads: bool) -> None:
    tf_logging.info("Finished training! Saving model to disk.")
    path, step = supervisor.save_path, supervisor.global_step
    supervisor.saver.save(sess, path, global_step=step)
    supervisor.stop(threads, False, ignore_live_threads)


def _wait_for_step(sess: Any, global_step: Any, step: int) -> None:
    while training_util.global_step(sess, global_step) < step:
        time.sleep(1.0)


def _check(train_op: Any, logdir: Any, summary_op: Any, saver: Any, trace: Any) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    unused = {
        "summary_op": summary_op is _USE_DEFAULT,
        "saver": saver is None,
        "trace_every_n_steps": trace is None,
    }
    for name, left_out in unused.items():
        if logdir is None and not left_out:
            raise ValueError(f"Cannot provide {name} because logdir=None")


def _synced(given: Any, startup_delay_steps: int) -> list[Any]:
    from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer

    if given is None:
        return []
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    optimizers = [given] if isinstance(given, SyncReplicasOptimizer) else given
    for optimizer in optimizers:
        if not isinstance(optimizer, SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return list(optimizers)


def _init_ops(
    init_op: Any, ready_op: Any, local_init_op: Any, synced: list[Any], is_chief: bool
) -> dict[str, Any]:
    """The operations that the supervisor runs to start, with defaults filled in."""
    from weft.lib.train.sessions.scaffold import initialize_tables

    with name_scope("init_ops"):
        if init_op is _USE_DEFAULT:
            init_op = variable_ops.global_variables_initializer()
        if ready_op is _USE_DEFAULT:
            ready_op = variable_ops.report_uninitialized_variables()
        if local_init_op is _USE_DEFAULT:
            local_init_op = control.group(
                variable_ops.local_variables_initializer(), initialize_tables()
            )
        ready_for_local = None
        if synced:
            with control_dependencies([] if local_init_op is None else [local_init_op]):
                local_init_op = control.group(
                    *[o.chief_init_op if is_chief else o.local_step_init_op for o in synced]
                )
            ready_for_local = control.group(*[o.ready_for_local_init_op for o in synced])
    return {
        "init_op": init_op,
        "ready_op": ready_op,
        "local_init_op": local_init_op,
        "ready_for_local_init_op": ready_for_local,
    }


def _step_kwargs(
    global_step: Any, number_of_steps: int | None, log_every: int, trace: int | None, logdir: Any
) -> dict[str, Any]:
    with name_scope("train_step"):
        made: dict[str, Any] = {"should_stop": constant(False)}
        if number_of_steps:
            made["should_stop"] = math.greater_equal(global_step, number_of_steps)
        periods = {"should_log": log_every if log_every > 0 else None, "should_trace": trace}
        for what, period in periods.items():
            if period is not None:
                made[what] = math.equal(math.mod(global_step, period), 0)
        return made if trace is None else {**made, "logdir": logdir}
