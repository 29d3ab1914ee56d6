"""tf.contrib.bayesflow: expectations by sampling."""

from weft.lib.contrib.bayesflow import monte_carlo as monte_carlo
