"""Steps whose replicas are equal, run as partitions and as one program: `replica_programs.py FILE`.

XLA must know of several hosts before its first program, so this is a process of its own. By the
name of a program, FILE gets the values of some steps, run in both ways, and whether the second way
was one program.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from weft.core import flags
from weft.runtime.replicated_plan import ReplicatedPlan
from weft.runtime.xla import region
from weft.runtime.xla.replicas import ReplicaSpan

COUNT = 3
STEPS = 4
TRACED = 2  # a step that runs as partitions, between others
Step = tuple[list[Any], dict[Any, Any]]  # fetches, feeds
PROGRAMS: dict[str, Callable[[], Step]] = {}


def program(build: Callable[[], Step]) -> Callable[[], Step]:
    PROGRAMS[build.__name__] = build
    return build


def device(i: int) -> Any:
    return tf.device(f"/cpu:{i}")


def rows(count: int = 12, width: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).randn(count, width).astype(np.float32)


# ---- towers by hand ------------------------------------------------------------------------------

JOINS = {
    "add_n": lambda grads: tf.add_n(grads) / len(grads),
    "concat": lambda grads: tf.reduce_mean(tf.concat([tf.expand_dims(g, 0) for g in grads], 0), 0),
    "additions": lambda grads: sum(grads) / len(grads),
    "weighted": lambda grads: grads[0] * 0.5 + grads[1] * 0.25 + grads[2] * 0.25,
    "nccl": lambda grads: tf.raw_ops.NcclReduce(input=grads, reduction="sum"),
}


def towers(join: Callable[[list[Any]], Any]) -> Step:
    x = tf.placeholder(tf.float32, [None, 6])
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    losses, grads, variables = [], [], []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i), tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            with device(0):
                w = tf.get_variable("w", [6, 40], initializer=tf.ones_initializer())
                b = tf.get_variable("b", [40], use_resource=True)
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(part, w) + b) - 0.5))
            losses.append(loss)
            variables = [w, b]
            grads.append(tf.gradients(loss, variables))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1.0, step, 2, 0.5)
    joined = [rate * join(list(each)) for each in zip(*grads, strict=True)]
    train = optimizer.apply_gradients(zip(joined, variables, strict=True), global_step=step)
    return [train, step, losses[1], tf.add_n(losses), *joined], {x: rows()}


for _name, _join in JOINS.items():
    PROGRAMS[f"towers_{_name}"] = lambda join=_join: towers(join)


@program
def own_variables() -> Step:
    """Each tower has a copy of the weights; the sums are wherever weft puts them."""
    feeds, grads, updates = {}, [], []
    copies = []
    for i in range(COUNT):
        with device(i):
            x = tf.placeholder(tf.float32, [400, 6])
            feeds[x] = rows(400, seed=i)
            w = tf.get_variable(f"w{i}", [6, 100], initializer=tf.ones_initializer())
            copies.append(w)
            grads.append(tf.gradients(tf.reduce_mean(tf.sin(tf.matmul(x, w))), w)[0])
    total = tf.add_n(grads)
    for i, w in enumerate(copies):
        with device(i):
            updates.append(w.assign_sub(0.01 * total))
    return [tf.group(*updates), total, *updates], feeds


@program
def one_tower_keeps_averages() -> Step:
    """Moving averages are those of the first tower; a summary is made of all."""
    x = tf.placeholder(tf.float32, [None, 6])
    with device(0):
        mean = tf.get_variable("mean", [6], initializer=tf.zeros_initializer())
        w = tf.get_variable("w", [6, 40], initializer=tf.ones_initializer())
    found, updates = [], []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i):
            found.append(tf.reduce_sum(tf.matmul(part, w), 0))
            if i == 0:
                updates.append(mean.assign_sub(0.1 * (mean - tf.reduce_mean(part, 0))))
    total = tf.add_n(found)
    text = tf.as_string(tf.cast(tf.reduce_sum(total), tf.int32))
    return [tf.group(*updates), mean, total, text], {x: rows()}


@program
def all_towers_count() -> Step:
    """Every tower adds to one variable, which is on the first device."""
    x = tf.placeholder(tf.float32, [None, 6])
    with device(0):
        count = tf.get_variable("count", [200], initializer=tf.zeros_initializer())
    w = tf.ones([6, 200])
    found, updates = [], []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i):
            made = tf.reduce_sum(tf.matmul(part, w), 0)
            found.append(made)
            updates.append(count.assign_add(made))
    with tf.control_dependencies(updates):
        after = tf.identity(count)
    return [tf.add_n(found), after], {x: rows(1200)}


@program
def dropout_and_loops() -> Step:
    """Each tower draws numbers of its own, and has a loop and a condition."""
    x = tf.placeholder(tf.float32, [None, 6])
    found = []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i):
            kept = tf.nn.dropout(tf.matmul(part, tf.ones([6, 50])), rate=0.5, seed=3)
            looped = tf.while_loop(lambda n, v: n < 3, lambda n, v: (n + 1, tf.tanh(v)), [0, kept])[
                1
            ]
            chosen = tf.cond(tf.reduce_sum(part) > 0, lambda v=looped: v, lambda v=looped: -v)
            found.append(tf.reduce_sum(chosen, 0))
    return [tf.add_n(found), *found], {x: rows()}


@program
def checked_labels() -> Step:
    """A label out of range on one device is an error, and no variable changes."""
    x = tf.placeholder(tf.float32, [None, 6])
    labels = tf.placeholder(tf.int32, [None])
    with device(0):
        w = tf.get_variable("w", [6, 40], initializer=tf.ones_initializer())
    grads = []
    parts = zip(tf.split(x, COUNT), tf.split(labels, COUNT), strict=True)
    for i, (part, label) in enumerate(parts):
        with device(i):
            logits = tf.matmul(part, w)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label + 1, logits=logits)
            grads.append(tf.gradients(tf.reduce_mean(loss), w)[0])
    train = w.assign_sub(tf.add_n(grads))
    good = np.arange(12, dtype=np.int32)
    bad = np.where(good == 7, 99, good).astype(np.int32)
    return [tf.group(train), w], {x: rows(), labels: [good, good, good, bad]}


# ---- strategies and collectives ------------------------------------------------------------------


@program
def mirrored() -> Step:
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(COUNT)])
    with strategy.scope():
        data = tf.data.Dataset.from_tensor_slices((rows(24), np.arange(24) % 5)).batch(12).repeat()
        iterator = strategy.make_dataset_iterator(data)
        tf.add_to_collection("start", iterator.initialize())

        def step(inputs: Any) -> Any:
            x, y = inputs
            hidden = tf.layers.dense(x, 32, tf.nn.relu, name="a")
            hidden = tf.layers.batch_normalization(hidden, training=True, name="n")
            logits = tf.layers.dense(hidden, 5, name="b")
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train = tf.train.AdamOptimizer(0.01).minimize(loss)
            with tf.control_dependencies([train]):
                return tf.identity(loss)

        losses = strategy.experimental_run_v2(step, (iterator.get_next(),))
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)
        return [mean, *strategy.experimental_local_results(losses)], {}


def each_device(make: Callable[[int, Any], Any]) -> Step:
    """The same on every device, of a part of what is fed."""
    x = tf.placeholder(tf.float32, [None, 6])
    found = []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i):
            found.append(make(i, tf.matmul(part, tf.ones([6, 60]))))
    return found, {x: rows()}


@program
def nccl_all_reduce() -> Step:
    def make(i: int, value: Any) -> Any:
        args = dict(reduction="max", num_devices=COUNT, shared_name="all")
        return tf.raw_ops.NcclAllReduce(input=value, **args) + i

    return each_device(make)


@program
def collective_reduce() -> Step:
    def make(i: int, value: Any) -> Any:
        return tf.raw_ops.CollectiveReduce(
            input=value, group_size=COUNT, group_key=1, instance_key=5, merge_op="Add",
            final_op="Div", subdiv_offsets=[0],
        )  # fmt: skip

    return each_device(make)


@program
def collective_gather() -> Step:
    def make(i: int, value: Any) -> Any:
        shape = [4, 60]
        return tf.raw_ops.CollectiveGather(
            input=value, group_size=COUNT, group_key=2, instance_key=6, shape=shape
        )

    return each_device(make)


# Collectives of a TPU's program, which partitions do not have, and what they make of values.
ALL = [list(range(COUNT))]
ONLY_ONE_PROGRAM: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "sum": (
        lambda v: tf.raw_ops.CrossReplicaSum(input=v, group_assignment=ALL),
        lambda values: [values.sum(0)] * COUNT,
    ),
    "permute": (
        lambda v: tf.raw_ops.CollectivePermute(input=v, source_target_pairs=[[0, 1], [1, 2]]),
        lambda values: [np.zeros_like(values[0]), values[0], values[1]],
    ),
    "exchange": (
        lambda v: tf.raw_ops.AllToAll(
            input=v, group_assignment=ALL, concat_dimension=0, split_dimension=1, split_count=COUNT
        ),
        lambda values: [
            np.concatenate([np.split(v, COUNT, 1)[i] for v in values]) for i in range(COUNT)
        ],
    ),
}


# ---- random programs -----------------------------------------------------------------------------

_UNARY = (tf.tanh, tf.sin, tf.sigmoid, lambda v: v * v, lambda v: tf.reverse(v, [1]))
_BINARY = (tf.add, tf.multiply, tf.maximum, lambda a, b: a - 0.5 * b)


def random_program(seed: int) -> Step:
    """Towers that compute the same random expression, joined in a random way."""
    draw = np.random.RandomState(seed)
    x = tf.placeholder(tf.float32, [None, 6])
    shape = [6, 6]
    recipe = [(draw.randint(3), *draw.randint(0, 100, 3)) for _ in range(draw.randint(3, 9))]
    shared = draw.rand() < 0.5
    grads, variables = [], []
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i), tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            with device(0 if shared else i):
                name = "w" if shared else f"w{i}"
                w = tf.get_variable(name, shape, initializer=tf.ones_initializer())
            variables.append(w)
            pool = [part, tf.matmul(part, w)]
            for kind, a, b, c in recipe:
                left, right = pool[a % len(pool)], pool[b % len(pool)]
                if kind == 0:
                    pool.append(_UNARY[c % len(_UNARY)](left))
                elif kind == 1:
                    pool.append(_BINARY[c % len(_BINARY)](left, right))
                else:
                    pool.append(tf.matmul(left, w))
            grads.append(tf.gradients(tf.reduce_mean(tf.add_n(pool[1:])), w)[0])
    joins = list(JOINS.values())
    joined = tf.clip_by_norm(joins[draw.randint(len(joins))](grads), 1.0)
    targets = variables[:1] if shared else variables
    updates = []
    for i, w in enumerate(targets):
        with device(i):
            updates.append(w.assign_sub(0.1 * joined))
    return [tf.group(*updates), joined, grads[2]], {x: rows(seed=seed)}


for _seed in range(5):
    PROGRAMS[f"random_{_seed}"] = lambda seed=_seed: random_program(seed)


# ---- what XLA makes of it ------------------------------------------------------------------------

LAYERS = 4


def layers() -> Step:
    """Towers of several layers; their gradients and their loss are joined one by one."""
    x = tf.placeholder(tf.float32, [None, 6])
    losses, grads = [], []
    with device(0):
        weights = [tf.get_variable(f"w{n}", [6, 6]) for n in range(LAYERS)]
    for i, part in enumerate(tf.split(x, COUNT)):
        with device(i):
            for w in weights:
                part = tf.tanh(tf.matmul(part, w))
            losses.append(tf.reduce_mean(tf.square(part - 0.1)))
            grads.append(tf.gradients(losses[-1], weights))
    means = [tf.add_n(list(each)) / COUNT for each in zip(*grads, strict=True)]
    train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(means, weights, strict=True))
    return [train, tf.add_n(losses)], {x: rows()}


def sums_of_a_step(build: Callable[[], Step]) -> list[int]:
    """How many tensors each all-reduce of the compiled program sums."""
    texts: list[str] = []

    def note(span: Any, compiled: Any) -> Any:
        texts.append(compiled.as_text())
        return compiled

    before, ReplicaSpan.program = ReplicaSpan.program, note  # type: ignore[method-assign]
    try:
        run(build, spmd=True)
    finally:
        ReplicaSpan.program = before  # type: ignore[method-assign]
    return [each.count("%") for each in re.findall(r" all-reduce\(([^)]*)\)", texts[-1])]


# ---- running -------------------------------------------------------------------------------------


def run(build: Callable[[], Step], spmd: bool) -> tuple[list[Any], bool]:
    """The values of some steps and of all variables then; whether they were one program."""
    with tf.Graph().as_default(), flags.SPMD.override("everywhere" if spmd else "nowhere"):
        tf.set_random_seed(5)
        fetches, feeds = build()
        config = tf.ConfigProto(device_count={"CPU": COUNT})
        with tf.Session(config=config) as session:
            session.run([tf.global_variables_initializer(), *tf.get_collection("start")])
            found = [_attempt(session, fetches, feeds, i) for i in range(STEPS)]
            found.append(session.run(tf.global_variables()))
            plans = list(session._runner._plans.values())
    steps = [plan for plan in plans if isinstance(plan, ReplicatedPlan) and plan.staged is not None]
    return found, any(plan.staged is not None and plan.staged.works for plan in steps)


def _attempt(session: Any, fetches: list[Any], feeds: dict[Any, Any], i: int) -> Any:
    given = {key: v[i] if isinstance(v, list) else v for key, v in feeds.items()}
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if i == TRACED else None
    try:
        return session.run(fetches, given, options)
    except tf.errors.OpError as error:
        return type(error).__name__, error.op.name


def main(path: Path) -> None:
    region.CALL_COST = region.BUFFER_COST = 0.0  # nothing is too small for a program
    results = {}
    for name, build in PROGRAMS.items():
        with flags.XLA.override(False):
            plain, _ = run(build, spmd=False)
        results[name] = plain, *run(build, spmd=True)
    global TRACED
    TRACED = STEPS  # a partition cannot do these
    for name, (make, _) in ONLY_ONE_PROGRAM.items():
        results[name] = run(lambda make=make: each_device(lambda i, v: make(v)), spmd=True)
    results["sums"] = sums_of_a_step(layers)
    path.write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
