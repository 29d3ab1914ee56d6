"""Samples for which a later TensorFlow than 1.15 says what is wanted, and why."""

from __future__ import annotations

# By how their id begins.
LATER = {
    "Acos(c": "1.15 cannot compute it",
    "Asin(c": "1.15 cannot compute it",
    "Atan(c": "1.15 cannot compute it",
    "AudioSpectrogram(f32[9x2],window_size=4": "1.15 counts the windows wrong",
    "AudioSpectrogram(f32[3x2],window_size=4": "1.15 counts the windows wrong",
    "CombinedNonMaxSuppression(f32[2x3x1x4],f32[2x3x2],i32[],i32[],f32[],f32[])#1": "size below 0",
    "DataFormatDimMap(i32[2],src_format=NDHWC": "1.15 knows formats of four axes only",
    "DataFormatVecPermute(i32[": "1.15 does not know spatial axes alone",
    "DecodePaddedRaw(string[2x1],i32[],out_type=int16,little_endian=False": "1.15 reads one text",
    "DepthToSpace(": "1.15 has NCHW on GPUs only",
    "EuclideanNorm(": "1.15 has no gradient for it, and takes an element for its magnitude",
    "FractionalAvgPoolGrad(i64[4],f32[2x4x5x2],i64[5],i64[6])#1": "1.15 reads outside of the array",
    "GatherV2(f32[2x3x4],i32[2x1],i32[],batch_dims=1": "1.15 adds all up in the first of the batch",
    "IsInf(bf16": "1.15 takes NaN for infinity",
    "LRN(bf16": "1.15 cannot compute it",
    "LinSpace(bf16": "1.15 cannot compute it",
    "LogMatrixDeterminant(": "1.15's second derivative takes the inverse for a symmetric one",
    "MatrixDeterminant(": "1.15's second derivative takes the inverse for a symmetric one",
    "MatrixDiagV2(f32[2],i32[],i32[],i32[],f32[])#1": "1.15 loses the offset",
    "MatrixInverse(": "1.15's derivative takes the adjoint for the inverse",
    "MatrixSetDiagV2(f32[2x3],f32[2],i32[])#1": "1.15 loses the offset",
    "Max(f32[3]": "NaN is passed on, whatever the order",
    "Maximum(f32[2]": "NaN is passed on, whatever the order",
    "Min(f32[3]": "NaN is passed on, whatever the order",
    "Minimum(f32[2]": "NaN is passed on, whatever the order",
    "NonMaxSuppressionV3(f32[7x4],f32[7],i32[],f32[],f32[])#1": "a size below 0",
    "Range(bf16": "1.15 cannot compute it",
    "Selu(bf16": "1.15 has another slope at 0 for this type",
    "SeluGrad(bf16": "1.15 has another slope at 0 for this type",
    "Sign(bf16": "1.15 takes NaN for positive",
    "SpaceToDepth(": "1.15 has NCHW on GPUs only",
    "SparseToSparseSetOperation(i64[2x2],i32[2],i64[2],i64[2x2],i32[2],i64[2]": (
        "1.15 does not look whether indices are within the shape"
    ),
}


def is_wanted(sample_id: str) -> bool:
    """Whether 1.15 is not asked about a sample."""
    return any(map(sample_id.startswith, LATER))
