"""How long does a training step of a 784-512-512-10 network take, batch of 128?"""

import mlp
from common import arguments, load, median_call, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    images, labels, loss, train = mlp.build(tf)
    feeds = dict(zip((images, labels), mlp.batch(), strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss, feeds)
        seconds = median_call(lambda: session.run(train, feeds), samples=21)
        after = session.run(loss, feeds)
    assert after < before, "it does not learn"
    report("mlp_step", impl, seconds, loss_before=float(before), loss_after=float(after))


if __name__ == "__main__":
    main()
