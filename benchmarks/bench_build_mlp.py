"""How fast is a graph built: a multi-layer perceptron with its gradients and updates?"""

import gc
import statistics
import time

import mlp
from common import arguments, load, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)

    def build() -> tuple[float, int]:
        with tf.Graph().as_default() as graph:
            gc.collect()  # of earlier graphs
            began = time.perf_counter()
            mlp.build(tf)
            return time.perf_counter() - began, len(graph.get_operations())

    build()
    runs = [build() for _ in range(15)]
    seconds, ops = statistics.median(each for each, _ in runs), runs[0][1]
    report("build_mlp", impl, seconds, ops=ops, ops_per_second=ops / seconds)


if __name__ == "__main__":
    main()
