"""tf.contrib.cudnn_rnn: layers of several recurrent layers, and cells that share their weights."""

from weft.lib.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from weft.lib.contrib.cudnn_rnn.cells import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_AUTO_MODE as CUDNN_INPUT_AUTO_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_LINEAR_MODE as CUDNN_INPUT_LINEAR_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_SKIP_MODE as CUDNN_INPUT_SKIP_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_RNN_BIDIRECTION as CUDNN_RNN_BIDIRECTION
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_RNN_UNIDIRECTION as CUDNN_RNN_UNIDIRECTION
from weft.lib.contrib.cudnn_rnn.layers import CudnnGRU as CudnnGRU
from weft.lib.contrib.cudnn_rnn.layers import CudnnLSTM as CudnnLSTM
from weft.lib.contrib.cudnn_rnn.layers import CudnnRNNRelu as CudnnRNNRelu
from weft.lib.contrib.cudnn_rnn.layers import CudnnRNNTanh as CudnnRNNTanh
