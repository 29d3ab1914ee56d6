"""Operations of tf.contrib that TensorFlow 2 has no kernels of."""

from tests.ops.sample import skip

_WHY = "TensorFlow 2 has none to compare with; tested in tests/contrib/test_small_kernels.py"
_IMAGES = "TensorFlow 2 has none to compare with; tested in tests/contrib/test_image_warps.py"
SAMPLES = [
    skip("AdjustHsvInYiq", _IMAGES),
    skip("ImageConnectedComponents", _IMAGES),
]
SAMPLES += [
    skip(name, _WHY)
    for name in (
        "DecodeAudio", "DecodeAudioV2", "DecodeLibsvm", "DecodeVideo", "EncodeAudio",
        "EncodeAudioV2", "FusedConv2DBiasActivation", "HyperplaneLSHProbes",
        "SkipGramGenerateCandidates",
    )
]  # fmt: skip
SAMPLES += [
    skip(name, "TensorFlow 2 has none to compare with; tested in tests/contrib/test_wals.py")
    for name in ("MaskedMatmul", "WALSComputePartialLhsAndRhs")
]
