"""How fast is a graph built: a chain of 5,000 additions?"""

import gc
import statistics
import time

from common import arguments, load, report

OPS = 5000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)

    def build() -> float:
        with tf.Graph().as_default():
            one = x = tf.constant(1.0)
            gc.collect()  # of earlier graphs
            began = time.perf_counter()
            for _ in range(OPS):
                x = tf.add(x, one)
            return time.perf_counter() - began

    build()
    seconds = statistics.median(build() for _ in range(5))
    report("build_chain", impl, seconds, ops=OPS, ops_per_second=OPS / seconds)


if __name__ == "__main__":
    main()
