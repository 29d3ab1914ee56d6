# %% [markdown]
# # Fine-tuning from a checkpoint
#
# A network learns the digits 0 to 4 and is saved. Another one takes over what it has learned of
# strokes and corners, and learns 5 to 9 from few pictures. As a program:
# `python examples/fine_tuning.py [--steps 200]`

# %%
import argparse
import os
import tempfile

import digits
import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train a network with what another has learned.")
parser.add_argument("--steps", type=int, default=200, help="steps of the first training (200)")
options, _ = parser.parse_known_args()


# %% [markdown]
# Both networks have the same body; each has a head of its own, in a scope of its own.


# %%
def network(head):
    """Builds a network: its placeholders, loss, step of training and accuracy."""
    images = tf.placeholder(tf.float32, [None, digits.SIZE, digits.SIZE, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("body"):
        net = tf.layers.conv2d(images, 12, 3, activation=tf.nn.relu, name="conv1")
        net = tf.layers.conv2d(net, 16, 3, strides=2, activation=tf.nn.relu, name="conv2")
        net = tf.layers.dense(tf.layers.flatten(net), 32, activation=tf.nn.relu, name="hidden")
    with tf.variable_scope(head):
        logits = tf.layers.dense(net, 5, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    right = tf.equal(tf.argmax(logits, axis=1), labels)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    return images, labels, loss, accuracy


def fit(session, train, images, labels, pictures, answers, steps):
    """Trains for some steps, on batches of 32."""
    rng = np.random.default_rng(0)
    for _ in range(steps):
        batch = rng.integers(0, len(pictures), 32)
        session.run(train, {images: pictures[batch], labels: answers[batch]})


# %%
folder = tempfile.mkdtemp(prefix="fine_tuning_")
pictures, answers = digits.draw(3000, seed=1, digits=range(5))
with tf.Graph().as_default(), tf.Session() as session:
    tf.set_random_seed(1)
    images, labels, loss, accuracy = network("first_head")
    train = tf.train.AdamOptimizer(0.005).minimize(loss)
    session.run(tf.global_variables_initializer())
    fit(session, train, images, labels, pictures, answers, options.steps)
    unseen = digits.draw(300, seed=2, digits=range(5))
    reached = session.run(accuracy, {images: unseen[0], labels: unseen[1]})
    path = tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"))
print(f"0 to 4: accuracy {reached:.3f}, saved at {os.path.basename(path)}")
print([name for name, _ in tf.train.list_variables(path) if name.endswith("kernel")])

# %% [markdown]
# The second network starts from the checkpoint, or from nothing, to compare. Only its new head is
# trained at first hand: `var_list` leaves the body as it is.

# %%
few, few_answers = digits.draw(200, seed=3, digits=range(5, 10))
test, test_answers = digits.draw(300, seed=4, digits=range(5, 10))


def second(from_checkpoint):
    """The accuracy on 5 to 9 after a short training on two hundred pictures."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        images, labels, loss, accuracy = network("second_head")
        head = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="second_head")
        if from_checkpoint:
            tf.train.init_from_checkpoint(path, {"body/": "body/"})
        train = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=head)
        session.run(tf.global_variables_initializer())
        fit(session, train, images, labels, few, few_answers - 5, 200)
        return session.run(accuracy, {images: test, labels: test_answers - 5})


print(f"5 to 9, from the checkpoint: accuracy {second(True):.3f}")
print(f"5 to 9, from nothing:        accuracy {second(False):.3f}")
