"""tf.nn: public names, re-exported from where they are made."""

from weft.ops.blocks import (
    depth_to_space as depth_to_space,
)
from weft.ops.blocks import (
    space_to_batch as space_to_batch,
)
from weft.ops.blocks import (
    space_to_depth as space_to_depth,
)
from weft.ops.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    compute_accidental_hits as compute_accidental_hits,
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
from weft.ops.math import (
    sigmoid as sigmoid,
)
from weft.ops.unary import (
    tanh as tanh,
)
