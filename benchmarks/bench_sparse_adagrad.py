"""How long does Adagrad take to update 1,024 rows of a table of 1,000,000 x 64?"""

from common import arguments, load, report
from sparse import step_seconds


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)

    def train(table: object, gradient: object) -> object:
        return tf.train.AdagradOptimizer(0.01).apply_gradients([(gradient, table)])

    report("sparse_adagrad", impl, step_seconds(tf, train))


if __name__ == "__main__":
    main()
