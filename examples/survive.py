"""Trains a small convolutional network that survives being killed at any moment.

    python examples/survive.py run_folder [--steps 1000] [--save-every 20]

Start it, kill it (`kill -9`), start it again: it goes on from its last checkpoint. The pictures are
drawn by the program itself: a bar, a ring or a cross, somewhere in noise. The folder can be shown
by TensorBoard.
"""

from __future__ import annotations

import argparse

import numpy as np

import weft as tf

SIZE = 16
SHAPES = ["bar", "ring", "cross"]


def draw(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [count, SIZE, SIZE, 1] and which shape each shows."""
    labels = rng.integers(len(SHAPES), size=count)
    pictures = rng.normal(0.0, 0.3, size=[count, SIZE, SIZE, 1]).astype(np.float32)
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    for picture, label in zip(pictures, labels, strict=True):
        y, x = rows - rng.integers(5, SIZE - 5), columns - rng.integers(5, SIZE - 5)
        inside = np.maximum(abs(y), abs(x)) <= 4
        shape = (y == 0, np.hypot(y, x).round() == 3, (y == 0) | (x == 0))[label]
        picture[shape & inside] += 1.0
    return pictures, labels


def network(pictures: tf.Tensor) -> tf.Tensor:
    """Scores of the shapes."""
    with tf.variable_scope("network", initializer=tf.glorot_uniform_initializer()):
        hidden = pictures
        for i, channels in enumerate([8, 16]):
            kernel = tf.get_variable(f"kernel{i}", [3, 3, int(hidden.shape[3]), channels])
            tf.summary.histogram(f"kernel{i}", kernel)
            hidden = tf.nn.relu(tf.nn.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
            hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        strongest = tf.reduce_max(hidden, axis=[1, 2])
        weights = tf.get_variable("weights", [16, len(SHAPES)])
        biases = tf.get_variable("biases", [len(SHAPES)], initializer=tf.zeros_initializer())
        return tf.matmul(strongest, weights) + biases


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a network that survives being killed.")
    parser.add_argument("folder", help="where checkpoints and summaries go")
    parser.add_argument("--steps", type=int, default=1000, help="the last step (default 1000)")
    parser.add_argument("--save-every", type=int, default=20, help="steps from save to save")
    parser.add_argument("--print-every", type=int, default=50, help="steps from line to line")
    arguments = parser.parse_args()

    tf.set_random_seed(1)
    pictures = tf.placeholder(tf.float32, [None, SIZE, SIZE, 1], name="pictures")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    scores = network(pictures)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores), name="loss"
    )
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(scores, 1), labels), tf.float32))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.001).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("right", right)
    tf.summary.image("pictures", pictures)

    rng = np.random.default_rng()
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=arguments.folder,
        save_checkpoint_steps=arguments.save_every,
        save_summaries_steps=arguments.save_every,
        log_step_count_steps=None,
        hooks=[tf.train.StopAtStepHook(last_step=arguments.steps)],
    ) as session:
        while not session.should_stop():
            x, y = draw(rng, 32)
            _, now, value, share = session.run([train, step, loss, right], {pictures: x, labels: y})
            if now % arguments.print_every == 0:
                print(f"step {now}: loss {value:.4f}, {share:.0%} right", flush=True)


if __name__ == "__main__":
    main()
