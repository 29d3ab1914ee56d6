"""A program whose mistakes type checkers find: each line that ends in "mistake" has one."""

from __future__ import annotations

import weft as tf

x = tf.placeholder(tf.float32, [None, 3])
tf.layers.dense(x, "four")  # mistake
tf.layers.dense(x, 4, activaton=tf.nn.relu)  # mistake
tf.layers.dense(units=4)  # mistake
tf.layers.conv2d(x, 32, 3, use_bias="yes")  # mistake
tf.reduce_sum(x, dimension=0)  # mistake
tf.square()  # mistake
tf.square(x, y=2)  # mistake
tf.nn.conv2d(x, [3, 3], stride=1)  # mistake
tf.square(x).evaluate()  # mistake
tf.nn.reluu(x)  # mistake
tf.train.AdamOptimizer(lr=0.1)  # mistake
tf.get_variable(shape=[3])  # mistake
tf.Session(grpah=tf.Graph())  # mistake
tf.random_normal([3], std=1.0)  # mistake
tf.contrib.layers.fully_connected(x, num_output=3)  # mistake
