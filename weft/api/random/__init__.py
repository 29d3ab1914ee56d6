"""tf.random: public names, re-exported from where they are made."""

from weft.graph.random_seed import (
    get_seed as get_seed,
    set_random_seed as set_random_seed,
)
from weft.ops.nn.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from weft.ops.random.random import (
    categorical as categorical,
    random_gamma as gamma,
    multinomial as multinomial,
    random_normal as normal,
    random_poisson as poisson,
    random_shuffle as shuffle,
    stateless_categorical as stateless_categorical,
    stateless_multinomial as stateless_multinomial,
    stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
    truncated_normal as truncated_normal,
    random_uniform as uniform,
)
from weft.api.random import experimental as experimental
