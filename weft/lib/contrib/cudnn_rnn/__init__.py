"""tf.contrib.cudnn_rnn: layers of several recurrent layers, and cells that share their weights."""

from weft.lib.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell as CudnnCompatibleGRUCell
from weft.lib.contrib.cudnn_rnn.cells import CudnnCompatibleLSTMCell as CudnnCompatibleLSTMCell
from weft.lib.contrib.cudnn_rnn.converters import CUDNN_GRU as CUDNN_GRU
from weft.lib.contrib.cudnn_rnn.converters import CUDNN_LSTM as CUDNN_LSTM
from weft.lib.contrib.cudnn_rnn.converters import CUDNN_RNN_RELU as CUDNN_RNN_RELU
from weft.lib.contrib.cudnn_rnn.converters import CUDNN_RNN_TANH as CUDNN_RNN_TANH
from weft.lib.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverter as CudnnParamsFormatConverter,
)
from weft.lib.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterGRU as CudnnParamsFormatConverterGRU,
)
from weft.lib.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterLSTM as CudnnParamsFormatConverterLSTM,
)
from weft.lib.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterRelu as CudnnParamsFormatConverterRelu,
)
from weft.lib.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterTanh as CudnnParamsFormatConverterTanh,
)
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_AUTO_MODE as CUDNN_INPUT_AUTO_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_LINEAR_MODE as CUDNN_INPUT_LINEAR_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_SKIP_MODE as CUDNN_INPUT_SKIP_MODE
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_RNN_BIDIRECTION as CUDNN_RNN_BIDIRECTION
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_RNN_UNIDIRECTION as CUDNN_RNN_UNIDIRECTION
from weft.lib.contrib.cudnn_rnn.layers import CudnnGRU as CudnnGRU
from weft.lib.contrib.cudnn_rnn.layers import CudnnLSTM as CudnnLSTM
from weft.lib.contrib.cudnn_rnn.layers import CudnnRNNRelu as CudnnRNNRelu
from weft.lib.contrib.cudnn_rnn.layers import CudnnRNNTanh as CudnnRNNTanh
from weft.lib.contrib.cudnn_rnn.saveables import CudnnGRUSaveable as CudnnGRUSaveable
from weft.lib.contrib.cudnn_rnn.saveables import CudnnLSTMSaveable as CudnnLSTMSaveable
from weft.lib.contrib.cudnn_rnn.saveables import (
    CudnnOpaqueParamsSaveable as CudnnOpaqueParamsSaveable,
)
from weft.lib.contrib.cudnn_rnn.saveables import CudnnRNNReluSaveable as CudnnRNNReluSaveable
from weft.lib.contrib.cudnn_rnn.saveables import CudnnRNNTanhSaveable as CudnnRNNTanhSaveable
