"""Samples of weft/ops/quantized/quantize.py."""

from tests.ops.sample import Sample, f32, f64, i32, ramp, skip

X = f32([[-1.2, -0.4, 0, 0.31], [0.74, 1.5, 2.6, -7]])
WIDE = ramp("float32", (3, 4), -10, 10)
LOW, HIGH = f32([-1, -0.5, 0, -6]), f32([1, 0.7, 0, 5])

SAMPLES = [
    skip("QuantizeAndDequantize", "TensorFlow refuses to build it; V2 has the same kernel"),
    *(
        Sample("QuantizeAndDequantizeV2", x, low, high, **attrs)
        for x, low, high, attrs in (
            (X, f32(0), f32(0), {}),
            (X, f32(-1), f32(1.5), {"range_given": True}),
            (X, f32(-1), f32(1.5), {"range_given": True, "narrow_range": True, "num_bits": 4}),
            (X, f32(0), f32(2), {"range_given": True, "signed_input": False}),
            (X, f32(0), f32(0), {"round_mode": "HALF_UP", "num_bits": 3}),
            (f64([0.1, 0.9]), f64(0), f64(0), {"num_bits": 5}),
            (f32([0, 0]), f32(0), f32(0), {}),
            (X, f32(1), f32(-1), {"range_given": True}),
        )
    ),
    Sample("QuantizeAndDequantizeV3", X, f32(-1), f32(1.5), i32(6)),
    Sample("QuantizeAndDequantizeV3", X, f32(0), f32(0), i32(8), range_given=False),
    Sample("FakeQuantWithMinMaxArgs", WIDE),
    Sample("FakeQuantWithMinMaxArgs", WIDE, min=-1, max=3, num_bits=4, narrow_range=True),
    Sample("FakeQuantWithMinMaxArgs", X, min=0.1, max=6.25, num_bits=7),
    Sample("FakeQuantWithMinMaxArgsGradient", WIDE + 1, WIDE, grad=False),
    Sample("FakeQuantWithMinMaxVars", WIDE, f32(-6), f32(6)),
    Sample("FakeQuantWithMinMaxVars", WIDE, f32(-0.3), f32(4), num_bits=3),
    Sample("FakeQuantWithMinMaxVars", WIDE, f32(0), f32(0)),
    Sample("FakeQuantWithMinMaxVarsGradient", WIDE + 1, WIDE, f32(-6), f32(6), grad=False),
    Sample("FakeQuantWithMinMaxVarsGradient", WIDE + 1, WIDE, f32(0), f32(0), grad=False),
    Sample("FakeQuantWithMinMaxVarsPerChannel", X, LOW, HIGH),
    Sample("FakeQuantWithMinMaxVarsPerChannel", f32([1, 2, 3, -4]), LOW, HIGH, num_bits=4),
    Sample("FakeQuantWithMinMaxVarsPerChannelGradient", X + 1, X, LOW, HIGH, grad=False),
    skip(
        "QuantizeV2",
        "quantized outputs have no sample dtype; see tests/ops/quantized/test_quantize.py",
    ),
    skip(
        "Dequantize",
        "quantized inputs have no sample dtype; see tests/ops/quantized/test_quantize.py",
    ),
]
