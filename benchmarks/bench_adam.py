"""How long does a step of Adam on 100 matrices of 64 x 64 take?"""

from common import arguments, load, median_call, report

COUNT = 100


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    variables = [tf.Variable(tf.ones([64, 64])) for _ in range(COUNT)]
    optimizer = tf.train.AdamOptimizer(1e-3)
    train = optimizer.apply_gradients([(0.01 * v, v) for v in variables])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seconds = median_call(lambda: session.run(train))
        value = session.run(variables[0])
    assert 0 < value[0, 0] < 1
    report("adam", impl, seconds)


if __name__ == "__main__":
    main()
