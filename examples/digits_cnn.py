# %% [markdown]
# # A convolutional network that reads digits
#
# Pictures of 12 by 12 dots go in, one of ten digits comes out. The graph is built once; a step of
# training is one `session.run` of it. As a program: `python examples/digits_cnn.py [--steps 300]`

# %%
import argparse

import digits
import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train a network that reads digits.")
parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
options, _ = parser.parse_known_args()

# %% [markdown]
# The pictures are drawn here: 4,000 to learn from, 500 to see what was learned.

# %%
train_images, train_labels = digits.draw(4000, seed=1)
test_images, test_labels = digits.draw(500, seed=2)
print(digits.printed(train_images[0]))
print("This is a", train_labels[0])

# %% [markdown]
# Two convolutions, each followed by a pooling that halves the picture, and two dense layers.

# %%
tf.set_random_seed(1)
images = tf.placeholder(tf.float32, [None, digits.SIZE, digits.SIZE, 1], name="images")
labels = tf.placeholder(tf.int64, [None], name="labels")

net = tf.layers.conv2d(images, 8, 3, padding="same", activation=tf.nn.relu, name="conv1")
net = tf.layers.max_pooling2d(net, 2, 2, name="pool1")
net = tf.layers.conv2d(net, 16, 3, padding="same", activation=tf.nn.relu, name="conv2")
net = tf.layers.max_pooling2d(net, 2, 2, name="pool2")
net = tf.layers.dense(tf.layers.flatten(net), 32, activation=tf.nn.relu, name="hidden")
logits = tf.layers.dense(net, 10, name="logits")

loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
train = tf.train.AdamOptimizer(0.005).minimize(loss)
right = tf.equal(tf.argmax(logits, axis=1), labels)
accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")

# %% [markdown]
# The first steps are interpreted, the rest run as one compiled program.

# %%
session = tf.Session()
session.run(tf.global_variables_initializer())
rng = np.random.default_rng(0)
for step in range(1, options.steps + 1):
    batch = rng.integers(0, len(train_images), 64)
    fed = {images: train_images[batch], labels: train_labels[batch]}
    _, current = session.run([train, loss], fed)
    if step % 50 == 0:
        print(f"step {step}: loss {current:.3f}")

# %%
reached = session.run(accuracy, {images: test_images, labels: test_labels})
print(f"Test accuracy: {reached:.3f}")
