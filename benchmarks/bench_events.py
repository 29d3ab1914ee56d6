"""How long does adding a scalar summary to an event file take, writing included?"""

import tempfile
import time

from common import arguments, load, report

EVENTS = 20_000
ROUNDS = 5


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.25)])
    serialized = summary.SerializeToString()
    times = []
    with tempfile.TemporaryDirectory() as logdir:
        for _ in range(ROUNDS):
            writer = tf.summary.FileWriter(logdir)
            began = time.perf_counter()
            for step in range(EVENTS):
                writer.add_summary(serialized, step)
            writer.close()
            times.append((time.perf_counter() - began) / EVENTS)
    seconds = sorted(times)[ROUNDS // 2]
    report("events", impl, seconds, events_per_second=round(1 / seconds))


if __name__ == "__main__":
    main()
