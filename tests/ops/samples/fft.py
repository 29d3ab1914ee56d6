"""Samples of weft/ops/linalg/fft.py."""

import numpy as np

from tests.ops.sample import DTYPES, Sample, f32, i32


def wave(shape: tuple[int, ...], dtype: str = "complex64") -> np.ndarray:
    count = int(np.prod(shape))
    values = np.cos(np.arange(count) * 1.7) + 1j * np.sin(np.arange(count) ** 2 * 0.3)
    return values.reshape(shape).astype(DTYPES[dtype])


def signal(shape: tuple[int, ...]) -> np.ndarray:
    return np.sin(np.arange(int(np.prod(shape))) ** 2 * 0.37).reshape(shape).astype(np.float32)


SAMPLES = [
    *(
        Sample(op, wave(shape, dtype), rtol=1e-4)
        for op, shapes in (
            ("FFT", ((8,), (2, 5), (2, 3, 1))),
            ("IFFT", ((8,), (2, 5))),
            ("FFT2D", ((3, 4), (2, 5, 3))),
            ("IFFT2D", ((3, 4), (2, 5, 3))),
            ("FFT3D", ((2, 3, 4), (2, 2, 3, 3))),
            ("IFFT3D", ((2, 3, 4), (2, 2, 3, 3))),
        )
        for shape in shapes
        for dtype in ("complex64", "complex128")
    ),
    Sample("FFT", wave((0,)), grad=False),
    Sample("FFT", wave((2, 0)), grad=False),
    Sample("FFT2D", wave((4,))),
    Sample("RFFT", signal((8,)), i32([8]), rtol=1e-4),
    Sample("RFFT", signal((2, 7)), i32([7]), rtol=1e-4),
    Sample("RFFT", signal((2, 7)), i32([4]), rtol=1e-4, grad=False),
    Sample("RFFT", signal((2, 1)), i32([1]), rtol=1e-4, grad=False),
    Sample("RFFT", signal((2, 3)), i32([4])),
    Sample("RFFT", signal((3,)), i32([2, 3])),
    Sample("RFFT", signal((2, 0)), i32([4]), grad=False),
    Sample("RFFT2D", signal((4, 6)), i32([4, 6]), rtol=1e-4),
    Sample("RFFT2D", signal((2, 3, 5)), i32([3, 5]), rtol=1e-4),
    Sample("RFFT2D", signal((2, 4, 5)), i32([3, 4]), rtol=1e-4, grad=False),
    Sample("RFFT3D", signal((2, 3, 4)), i32([2, 3, 4]), rtol=1e-4, grad=False),
    Sample("IRFFT", wave((5,)), i32([8]), rtol=1e-4),
    Sample("IRFFT", wave((2, 4)), i32([7]), rtol=1e-4),
    Sample("IRFFT", wave((2, 6)), i32([6]), rtol=1e-4, grad=False),
    Sample("IRFFT", wave((2, 3)), i32([8])),
    Sample("IRFFT2D", wave((4, 3)), i32([4, 4]), rtol=1e-4),
    Sample("IRFFT2D", wave((2, 3, 3)), i32([3, 5]), rtol=1e-4),
    Sample("IRFFT3D", wave((2, 3, 3)), i32([2, 3, 4]), rtol=1e-4, grad=False),
    Sample("RFFT", f32(1.0), i32([1])),
]
