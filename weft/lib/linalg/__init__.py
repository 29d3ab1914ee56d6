"""tf.linalg.LinearOperator and its kinds: matrices known by their structure, not their entries."""

from weft.lib.linalg import rules as rules  # every operator can be combined with every other
