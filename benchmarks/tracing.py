"""What recording costs a training step of about a millisecond, in CPU time.

Off, on, and on with the operations inside of programs take turns, so that what else the machine
does meets all three. Prints one JSON line; `--seconds` is what each turn takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from common import load

BATCH, WIDTH, CLASSES = 64, 256, 10
TURNS = ("off", "on", "on with operations")


def step(tf: Any, session: Any) -> Callable[[], Any]:
    """One step of training two dense layers."""
    import numpy as np

    x = tf.placeholder(tf.float32, [BATCH, WIDTH])
    y = tf.placeholder(tf.float32, [BATCH, CLASSES])
    hidden = tf.layers.dense(x, WIDTH, tf.nn.relu)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, CLASSES) - y))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    feeds = {x: np.ones((BATCH, WIDTH), np.float32), y: np.ones((BATCH, CLASSES), np.float32)}
    session.run(tf.global_variables_initializer())
    return lambda: session.run([train, loss], feeds)


def spent(call: Callable[[], Any], seconds: float) -> float:
    """CPU seconds of one call, by all threads of the process."""
    calls, began, until = 0, time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < until:
        call()
        calls += 1
    return (time.process_time() - began) / calls


def measured(call: Callable[[], Any], rounds: int, seconds: float) -> dict[str, list[float]]:
    """The times of each turn, round by round; every second round goes backwards."""
    from weft.runtime.recording.control import CONTROL

    found: dict[str, list[float]] = {turn: [] for turn in TURNS}
    for number in range(rounds):
        for turn in TURNS if number % 2 else reversed(TURNS):
            if turn != "off":
                CONTROL.start(operations=turn != "on")
            found[turn].append(spent(call, seconds))
            CONTROL.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=4.0)
    arguments = parser.parse_args()
    tf = load("weft")
    with tf.Session() as session:
        call = step(tf, session)
        spent(call, 2.0)
        found = measured(call, arguments.rounds, arguments.seconds)
    off = found["off"]
    line = {"microseconds": round(1e6 * statistics.median(off), 1)}
    for turn in TURNS[1:]:
        more = statistics.median(a / b - 1 for a, b in zip(found[turn], off, strict=True))
        line[f"{turn}, %"] = round(100 * more, 1)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
