"""Samples of weft/ops/quantized: arithmetic.py, windows.py and fused.py.

Their inputs are of quantized types, which samples do not have: they are compared with what
TensorFlow gives in tests/ops/quantized/test_quantized.py.
"""

from tests.ops.fused_programs import OPS, PRODUCTS
from tests.ops.sample import skip

SAMPLES = [
    skip(name, "checked against results and formulas in tests/ops/quantized/test_fused.py")
    for name in (*OPS, *PRODUCTS, "RequantizationRangePerChannel", "RequantizePerChannel")
]
SAMPLES += [
    skip(name, "checked against recorded results in tests/ops/quantized/test_quantized.py")
    for name in (
        "QuantizeDownAndShrinkRange QuantizedAdd QuantizedAvgPool"
        " QuantizedBatchNormWithGlobalNormalization"
        " QuantizedBiasAdd QuantizedConcat QuantizedInstanceNorm QuantizedResizeBilinear"
        " QuantizedConv2D QuantizedMatMul QuantizedMaxPool QuantizedMul QuantizedRelu"
        " QuantizedRelu6 QuantizedReluX QuantizedReshape RequantizationRange Requantize"
    ).split()
]
