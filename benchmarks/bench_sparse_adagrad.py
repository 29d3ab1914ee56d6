"""How long does Adagrad take to update 1,024 rows of a table of 1,000,000 x 64?"""

from common import arguments, load
from sparse import report_steps


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)

    def train(table: object, gradient: object) -> object:
        return tf.train.AdagradOptimizer(0.01).apply_gradients([(gradient, table)])

    report_steps(tf, "sparse_adagrad", impl, train)


if __name__ == "__main__":
    main()
