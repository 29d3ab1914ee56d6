"""How long do a convolution and its two gradients take, for shapes that networks are made of?"""

import statistics
from typing import Any

import numpy as np
from common import arguments, load, median_call, report

# name: batch, height = width, input channels, output channels, window, stride
SHAPES = {
    "3x3": (8, 56, 64, 64, 3, 1),
    "3x3 deep": (8, 14, 256, 256, 3, 1),
    "3x3 strided": (8, 56, 64, 128, 3, 2),
    "1x1": (8, 28, 128, 256, 1, 1),
    "5x5": (32, 14, 32, 64, 5, 1),
    "first layer": (8, 112, 3, 32, 3, 2),
}


def seconds(tf: Any, shape: tuple[int, ...]) -> list[float]:
    """Forward, gradient for the images, gradient for the filters; only a maximum is fetched."""
    batch, size, inner, outer, window, stride = shape
    random = np.random.default_rng(0)
    images = random.standard_normal((batch, size, size, inner), np.float32)
    filters = random.standard_normal((window, window, inner, outer), np.float32)
    with tf.Graph().as_default():
        x = tf.get_variable("x", initializer=images)
        w = tf.get_variable("w", initializer=filters)
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], "SAME")
        g = tf.get_variable("g", initializer=np.ones(y.shape.as_list(), np.float32))
        results = [y, *tf.gradients(y, [x, w], g)]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [
                median_call(lambda top=top: session.run(top), samples=7)
                for top in [tf.reduce_max(result) for result in results]
            ]


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    times = {name: seconds(tf, shape) for name, shape in SHAPES.items()}
    details = {name: [round(1e3 * t, 2) for t in each] for name, each in times.items()}
    report("convolution", impl, statistics.mean(sum(each) for each in times.values()), ms=details)


if __name__ == "__main__":
    main()
