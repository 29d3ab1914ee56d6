"""tf.contrib.constrained_optimization: minima under constraints, as a game of two players."""

from weft.lib.contrib.constrained_optimization.candidates import (
    find_best_candidate_distribution as find_best_candidate_distribution,
)
from weft.lib.contrib.constrained_optimization.candidates import (
    find_best_candidate_index as find_best_candidate_index,
)
from weft.lib.contrib.constrained_optimization.players import (
    AdditiveExternalRegretOptimizer as AdditiveExternalRegretOptimizer,
)
from weft.lib.contrib.constrained_optimization.players import (
    AdditiveSwapRegretOptimizer as AdditiveSwapRegretOptimizer,
)
from weft.lib.contrib.constrained_optimization.players import (
    MultiplicativeSwapRegretOptimizer as MultiplicativeSwapRegretOptimizer,
)
from weft.lib.contrib.constrained_optimization.problems import (
    ConstrainedMinimizationProblem as ConstrainedMinimizationProblem,
)
from weft.lib.contrib.constrained_optimization.problems import (
    ConstrainedOptimizer as ConstrainedOptimizer,
)
