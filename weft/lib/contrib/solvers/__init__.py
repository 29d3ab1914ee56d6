"""tf.contrib.solvers: linear systems, by operators that need no matrix."""

from weft.lib.contrib.solvers import lanczos as lanczos
from weft.lib.contrib.solvers import least_squares as least_squares
from weft.lib.contrib.solvers import linear_equations as linear_equations
from weft.lib.contrib.solvers import util as util
