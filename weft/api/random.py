"""tf.random: public names, re-exported from where they are made."""

from weft.graph.random_seed import (
    get_seed as get_seed,
)
from weft.graph.random_seed import (
    set_random_seed as set_random_seed,
)
from weft.ops.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from weft.ops.random import (
    categorical as categorical,
)
from weft.ops.random import (
    multinomial as multinomial,
)
from weft.ops.random import (
    random_gamma as gamma,
)
from weft.ops.random import (
    random_normal as normal,
)
from weft.ops.random import (
    random_poisson as poisson,
)
from weft.ops.random import (
    random_shuffle as shuffle,
)
from weft.ops.random import (
    random_uniform as uniform,
)
from weft.ops.random import (
    stateless_categorical as stateless_categorical,
)
from weft.ops.random import (
    stateless_multinomial as stateless_multinomial,
)
from weft.ops.random import (
    stateless_normal as stateless_normal,
)
from weft.ops.random import (
    stateless_truncated_normal as stateless_truncated_normal,
)
from weft.ops.random import (
    stateless_uniform as stateless_uniform,
)
from weft.ops.random import (
    truncated_normal as truncated_normal,
)
