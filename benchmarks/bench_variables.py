"""How long does a step take that adds to each of 200 small variables?"""

from common import arguments, load, median_call, report

COUNT = 200


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    variables = [tf.Variable(tf.zeros([10])) for _ in range(COUNT)]
    update = tf.group(*[tf.assign_add(variable, tf.ones([10])) for variable in variables])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seconds = median_call(lambda: session.run(update))
        values = session.run(variables)
    assert all((value == values[0]).all() for value in values) and values[0][0] > 0
    report("variables", impl, seconds)


if __name__ == "__main__":
    main()
