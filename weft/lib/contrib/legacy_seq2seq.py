"""tf.contrib.legacy_seq2seq: unrolled models, re-exported from where they are made."""

from weft.lib.rnn.legacy_attention import attention_decoder as attention_decoder
from weft.lib.rnn.legacy_attention import embedding_attention_decoder as embedding_attention_decoder
from weft.lib.rnn.legacy_attention import embedding_attention_seq2seq as embedding_attention_seq2seq
from weft.lib.rnn.legacy_seq2seq import basic_rnn_seq2seq as basic_rnn_seq2seq
from weft.lib.rnn.legacy_seq2seq import embedding_rnn_decoder as embedding_rnn_decoder
from weft.lib.rnn.legacy_seq2seq import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from weft.lib.rnn.legacy_seq2seq import embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq
from weft.lib.rnn.legacy_seq2seq import model_with_buckets as model_with_buckets
from weft.lib.rnn.legacy_seq2seq import one2many_rnn_seq2seq as one2many_rnn_seq2seq
from weft.lib.rnn.legacy_seq2seq import rnn_decoder as rnn_decoder
from weft.lib.rnn.legacy_seq2seq import sequence_loss as sequence_loss
from weft.lib.rnn.legacy_seq2seq import sequence_loss_by_example as sequence_loss_by_example
from weft.lib.rnn.legacy_seq2seq import tied_rnn_seq2seq as tied_rnn_seq2seq
