"""tf.keras.layers: public names, re-exported from where they are made."""

from weft.lib.feature_column.layers import DenseFeatures as DenseFeatures
from weft.lib.keras.engine.base_layer import Layer as Layer
from weft.lib.keras.engine.input_layer import Input as Input, InputLayer as InputLayer
from weft.lib.keras.engine.input_spec import InputSpec as InputSpec
from weft.lib.keras.layers.advanced_activations import (
    ELU as ELU,
    LeakyReLU as LeakyReLU,
    PReLU as PReLU,
    ReLU as ReLU,
    Softmax as Softmax,
    ThresholdedReLU as ThresholdedReLU,
)
from weft.lib.keras.layers.bidirectional import Bidirectional as Bidirectional
from weft.lib.keras.layers.convolutional import (
    Conv1D as Conv1D,
    Conv2D as Conv2D,
    Conv3D as Conv3D,
    Convolution1D as Convolution1D,
    Convolution2D as Convolution2D,
    Convolution3D as Convolution3D,
)
from weft.lib.keras.layers.convolutional_recurrent import ConvLSTM2D as ConvLSTM2D
from weft.lib.keras.layers.core import (
    Activation as Activation,
    ActivityRegularization as ActivityRegularization,
    Dense as Dense,
    Flatten as Flatten,
    Masking as Masking,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
)
from weft.lib.keras.layers.cudnn_recurrent import CuDNNGRU as CuDNNGRU, CuDNNLSTM as CuDNNLSTM
from weft.lib.keras.layers.dense_attention import (
    AdditiveAttention as AdditiveAttention,
    Attention as Attention,
)
from weft.lib.keras.layers.dropout import (
    Dropout as Dropout,
    SpatialDropout1D as SpatialDropout1D,
    SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)
from weft.lib.keras.layers.embeddings import Embedding as Embedding
from weft.lib.keras.layers.global_pooling import (
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalAvgPool1D as GlobalAvgPool1D,
    GlobalAvgPool2D as GlobalAvgPool2D,
    GlobalAvgPool3D as GlobalAvgPool3D,
    GlobalMaxPool1D as GlobalMaxPool1D,
    GlobalMaxPool2D as GlobalMaxPool2D,
    GlobalMaxPool3D as GlobalMaxPool3D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
)
from weft.lib.keras.layers.lambda_layer import Lambda as Lambda
from weft.lib.keras.layers.layer_normalization import LayerNormalization as LayerNormalization
from weft.lib.keras.layers.local import (
    LocallyConnected1D as LocallyConnected1D,
    LocallyConnected2D as LocallyConnected2D,
)
from weft.lib.keras.layers.merge import (
    Add as Add,
    add as add,
    Average as Average,
    average as average,
    Concatenate as Concatenate,
    concatenate as concatenate,
    Dot as Dot,
    dot as dot,
    Maximum as Maximum,
    maximum as maximum,
    Minimum as Minimum,
    minimum as minimum,
    Multiply as Multiply,
    multiply as multiply,
    Subtract as Subtract,
    subtract as subtract,
)
from weft.lib.keras.layers.noise import (
    AlphaDropout as AlphaDropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
)
from weft.lib.keras.layers.normalization import BatchNormalization as BatchNormalization
from weft.lib.keras.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling3D as AveragePooling3D,
    AvgPool1D as AvgPool1D,
    AvgPool2D as AvgPool2D,
    AvgPool3D as AvgPool3D,
    MaxPool1D as MaxPool1D,
    MaxPool2D as MaxPool2D,
    MaxPool3D as MaxPool3D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPooling3D,
)
from weft.lib.keras.layers.recurrent import RNN as RNN
from weft.lib.keras.layers.recurrent_v1 import GRU as GRU, LSTM as LSTM, SimpleRNN as SimpleRNN
from weft.lib.keras.layers.resizing import (
    Cropping1D as Cropping1D,
    Cropping2D as Cropping2D,
    Cropping3D as Cropping3D,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
    UpSampling3D as UpSampling3D,
    ZeroPadding1D as ZeroPadding1D,
    ZeroPadding2D as ZeroPadding2D,
    ZeroPadding3D as ZeroPadding3D,
)
from weft.lib.keras.layers.rnn_cells import (
    AbstractRNNCell as AbstractRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
)
from weft.lib.keras.layers.separable import (
    DepthwiseConv2D as DepthwiseConv2D,
    SeparableConv1D as SeparableConv1D,
    SeparableConv2D as SeparableConv2D,
    SeparableConvolution1D as SeparableConvolution1D,
    SeparableConvolution2D as SeparableConvolution2D,
)
from weft.lib.keras.layers.serialization import deserialize as deserialize, serialize as serialize
from weft.lib.keras.layers.stacked_cells import StackedRNNCells as StackedRNNCells
from weft.lib.keras.layers.transposed import (
    Conv2DTranspose as Conv2DTranspose,
    Conv3DTranspose as Conv3DTranspose,
    Convolution2DTranspose as Convolution2DTranspose,
    Convolution3DTranspose as Convolution3DTranspose,
)
from weft.lib.keras.layers.wrappers import TimeDistributed as TimeDistributed, Wrapper as Wrapper
