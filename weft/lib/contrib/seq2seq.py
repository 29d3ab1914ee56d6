"""tf.contrib.seq2seq: decoders, helpers and attention, re-exported from where they are made.

Decoder functions are those of TensorFlow 1.0 and 1.1; later versions have none.
"""

from weft.lib.contrib.decoder_functions import (
    attention_decoder_fn_inference as attention_decoder_fn_inference,
)
from weft.lib.contrib.decoder_functions import (
    attention_decoder_fn_train as attention_decoder_fn_train,
)
from weft.lib.contrib.decoder_functions import (
    dynamic_rnn_decoder as dynamic_rnn_decoder,
)
from weft.lib.contrib.decoder_functions import (
    prepare_attention as prepare_attention,
)
from weft.lib.contrib.decoder_functions import (
    simple_decoder_fn_inference as simple_decoder_fn_inference,
)
from weft.lib.contrib.decoder_functions import (
    simple_decoder_fn_train as simple_decoder_fn_train,
)
from weft.lib.rnn.attention import AttentionMechanism as AttentionMechanism
from weft.lib.rnn.attention import BahdanauAttention as BahdanauAttention
from weft.lib.rnn.attention import LuongAttention as LuongAttention
from weft.lib.rnn.attention import hardmax as hardmax
from weft.lib.rnn.attention_monotonic import (
    BahdanauMonotonicAttention as BahdanauMonotonicAttention,
)
from weft.lib.rnn.attention_monotonic import LuongMonotonicAttention as LuongMonotonicAttention
from weft.lib.rnn.attention_monotonic import monotonic_attention as monotonic_attention
from weft.lib.rnn.attention_monotonic import safe_cumprod as safe_cumprod
from weft.lib.rnn.attention_wrapper import AttentionWrapper as AttentionWrapper
from weft.lib.rnn.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from weft.lib.rnn.basic_decoder import BasicDecoder as BasicDecoder
from weft.lib.rnn.basic_decoder import BasicDecoderOutput as BasicDecoderOutput
from weft.lib.rnn.beam_scores import tile_batch as tile_batch
from weft.lib.rnn.beam_search import BeamSearchDecoder as BeamSearchDecoder
from weft.lib.rnn.beam_search import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from weft.lib.rnn.beam_search import BeamSearchDecoderState as BeamSearchDecoderState
from weft.lib.rnn.beam_search import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from weft.lib.rnn.decoder import Decoder as Decoder
from weft.lib.rnn.decoder import dynamic_decode as dynamic_decode
from weft.lib.rnn.helper import CustomHelper as CustomHelper
from weft.lib.rnn.helper import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from weft.lib.rnn.helper import Helper as Helper
from weft.lib.rnn.helper import InferenceHelper as InferenceHelper
from weft.lib.rnn.helper import SampleEmbeddingHelper as SampleEmbeddingHelper
from weft.lib.rnn.helper import TrainingHelper as TrainingHelper
from weft.lib.rnn.loss import sequence_loss as sequence_loss
from weft.lib.rnn.scheduled_helpers import (
    ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper,
)
from weft.lib.rnn.scheduled_helpers import (
    ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper,
)
from weft.ops.nn.gather_tree import gather_tree as gather_tree
