"""How long does lazy Adam take to update 1,024 rows of a table of 1,000,000 x 64?

TensorFlow 2 has no LazyAdamOptimizer; there its update is spelled out in the same operations.
"""

from typing import Any

from common import arguments, load
from sparse import report_steps


def lazy_adam(tf: Any, table: Any, gradient: Any, rate: float = 0.001) -> Any:
    """The update of tf.contrib.opt.LazyAdamOptimizer, as a function of the public API."""
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8
    m, v = (
        tf.get_variable(
            name,
            table.shape,
            initializer=tf.zeros_initializer(),
            use_resource=True,
            trainable=False,
        )
        for name in ("m", "v")
    )
    powers = [
        tf.get_variable(f"power{i}", initializer=beta, use_resource=True, trainable=False)
        for i, beta in enumerate((beta1, beta2))
    ]
    rows, places = tf.unique(gradient.indices)
    grad = tf.unsorted_segment_sum(gradient.values, places, tf.shape(rows)[0])
    scale = rate * tf.sqrt(1 - powers[1]) / (1 - powers[0])
    m_rows = beta1 * tf.gather(m, rows) + (1 - beta1) * grad
    v_rows = beta2 * tf.gather(v, rows) + (1 - beta2) * tf.square(grad)
    step = scale * m_rows / (tf.sqrt(v_rows) + epsilon)
    updates = [
        tf.raw_ops.ResourceScatterAdd(resource=table.handle, indices=rows, updates=-step),
        tf.raw_ops.ResourceScatterUpdate(resource=m.handle, indices=rows, updates=m_rows),
        tf.raw_ops.ResourceScatterUpdate(resource=v.handle, indices=rows, updates=v_rows),
    ]
    with tf.control_dependencies(updates):
        moved = [p.assign(p * beta) for p, beta in zip(powers, (beta1, beta2), strict=True)]
        return tf.group(*moved)


def main() -> None:
    impl = arguments(__doc__ or "")
    tf = load(impl)

    def train(table: Any, gradient: Any) -> Any:
        if impl == "tensorflow":
            return lazy_adam(tf, table, gradient)
        optimizer = tf.contrib.opt.LazyAdamOptimizer(0.001)
        return optimizer.apply_gradients([(gradient, table)])

    report_steps(tf, "sparse_lazy_adam", impl, train)


if __name__ == "__main__":
    main()
