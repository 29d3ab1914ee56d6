# %% [markdown]
# # A generative adversarial network
#
# A generator draws digits from noise; a discriminator tells them from real ones; each learns from
# the other. As a program: `python examples/gan.py [--steps 1500]`

# %%
import argparse

import digits
import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train a network that draws digits.")
parser.add_argument("--steps", type=int, default=1500, help="steps of training (1500)")
options, _ = parser.parse_known_args()

BATCH, NOISE, DOTS = 64, 16, digits.SIZE * digits.SIZE
real_pictures, _ = digits.draw(4000, seed=1, digits=[0, 1, 7], centred=True)
real_pictures = real_pictures.reshape(-1, DOTS)


# %% [markdown]
# The discriminator is built twice, on real pictures and on drawn ones, with the same variables.


# %%
def generator(noise):
    """Pictures from noise."""
    with tf.variable_scope("generator"):
        net = tf.layers.dense(noise, 64, tf.nn.leaky_relu, name="first")
        net = tf.layers.dense(net, 128, tf.nn.leaky_relu, name="second")
        return tf.layers.dense(net, DOTS, tf.nn.sigmoid, name="dots")


def discriminator(pictures):
    """How real pictures look, as logits."""
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        net = tf.layers.dense(pictures, 128, tf.nn.leaky_relu, name="first")
        net = tf.layers.dense(net, 64, tf.nn.leaky_relu, name="second")
        return tf.layers.dense(net, 1, name="logit")


# %%
tf.set_random_seed(1)
real = tf.placeholder(tf.float32, [None, DOTS], name="real")
noise = tf.random_normal([BATCH, NOISE])
drawn = generator(noise)
on_real, on_drawn = discriminator(real), discriminator(drawn)


def cross_entropy(logits, label):
    """How far logits are from saying `label` of all pictures."""
    labels = tf.fill(tf.shape(logits), label)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


loss_of_discriminator = cross_entropy(on_real, 0.9) + cross_entropy(on_drawn, 0.0)
loss_of_generator = cross_entropy(on_drawn, 1.0)
of_discriminator = tf.trainable_variables("discriminator")
of_generator = tf.trainable_variables("generator")
adam = tf.train.AdamOptimizer
train_discriminator = adam(1e-3, beta1=0.5).minimize(
    loss_of_discriminator, var_list=of_discriminator
)
train_generator = adam(1e-3, beta1=0.5).minimize(loss_of_generator, var_list=of_generator)

# %%
session = tf.Session()
session.run(tf.global_variables_initializer())
rng = np.random.default_rng(0)
for step in range(1, options.steps + 1):
    batch = real_pictures[rng.integers(0, len(real_pictures), BATCH)]
    session.run(train_discriminator, {real: batch})
    session.run(train_generator)
    if step % 500 == 0:
        losses = session.run([loss_of_discriminator, loss_of_generator], {real: batch})
        print("step {}: discriminator {:.3f}, generator {:.3f}".format(step, *losses))

# %%
made = session.run(drawn)
print(f"Brightness: drawn {made.mean():.3f}, real {real_pictures.mean():.3f}")
for picture in made[:2]:
    print(digits.printed(picture))
