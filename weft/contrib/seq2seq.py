"""tf.contrib.seq2seq: decoders, helpers and attention, re-exported from where they are made."""

from weft.ops.gather_tree import gather_tree as gather_tree
from weft.rnn.attention import AttentionMechanism as AttentionMechanism
from weft.rnn.attention import BahdanauAttention as BahdanauAttention
from weft.rnn.attention import LuongAttention as LuongAttention
from weft.rnn.attention import hardmax as hardmax
from weft.rnn.attention_monotonic import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from weft.rnn.attention_monotonic import LuongMonotonicAttention as LuongMonotonicAttention
from weft.rnn.attention_monotonic import monotonic_attention as monotonic_attention
from weft.rnn.attention_monotonic import safe_cumprod as safe_cumprod
from weft.rnn.attention_wrapper import AttentionWrapper as AttentionWrapper
from weft.rnn.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from weft.rnn.basic_decoder import BasicDecoder as BasicDecoder
from weft.rnn.basic_decoder import BasicDecoderOutput as BasicDecoderOutput
from weft.rnn.beam_scores import tile_batch as tile_batch
from weft.rnn.beam_search import BeamSearchDecoder as BeamSearchDecoder
from weft.rnn.beam_search import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from weft.rnn.beam_search import BeamSearchDecoderState as BeamSearchDecoderState
from weft.rnn.beam_search import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from weft.rnn.decoder import Decoder as Decoder
from weft.rnn.decoder import dynamic_decode as dynamic_decode
from weft.rnn.helper import CustomHelper as CustomHelper
from weft.rnn.helper import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from weft.rnn.helper import Helper as Helper
from weft.rnn.helper import InferenceHelper as InferenceHelper
from weft.rnn.helper import SampleEmbeddingHelper as SampleEmbeddingHelper
from weft.rnn.helper import TrainingHelper as TrainingHelper
from weft.rnn.loss import sequence_loss as sequence_loss
from weft.rnn.scheduled_helpers import (
    ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper,
)
from weft.rnn.scheduled_helpers import (
    ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper,
)
