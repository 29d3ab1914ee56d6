"""tf.signal against SciPy, NumPy and its own inverses, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import weft as tf

RANDOM = np.random.RandomState(3)
SOUND = RANDOM.randn(2, 203).astype(np.float32)


def run(value: Any, feeds: Any = None, times: int = 2) -> Any:
    """The value of the last of several runs: the first is interpreted, later ones are compiled."""
    with tf.Session() as session:
        results = [session.run(value, feeds) for _ in range(times)]
    for first, last in zip(tf.nest.flatten(results[0]), tf.nest.flatten(results[-1]), strict=True):
        np.testing.assert_allclose(first, last, rtol=1e-4, atol=1e-4)
    return results[-1]


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 5, 40])
def test_cosine_transforms_are_scipys(kind: int, norm: str | None, n: int | None) -> None:
    if kind == 1 and norm == "ortho":
        with pytest.raises(ValueError, match="Normalization is not supported"):
            tf.signal.dct(SOUND, type=1, norm=norm)
        with pytest.raises(ValueError, match="Normalization is not supported"):
            tf.signal.dct([1.0, 2.0], type=1, norm=norm)  # the list has no shape to look at yet
        return
    x = SOUND[:, :17]
    expected = scipy.fft.dct(x, type=kind, n=n, norm=norm)
    np.testing.assert_allclose(
        run(tf.signal.dct(x, type=kind, n=n, norm=norm)), expected, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("n", [None, 5, 40])
def test_a_cosine_transform_of_unknown_length(n: int | None) -> None:
    x = tf.placeholder(tf.float32, [2, None])
    found = run(tf.signal.dct(x, n=n), {x: SOUND[:, :17]})
    np.testing.assert_allclose(found, scipy.fft.dct(SOUND[:, :17], n=n), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fft_length", [None, 16, 32])
@pytest.mark.parametrize("known", [True, False])
def test_spectra_of_frames(fft_length: int | None, known: bool) -> None:
    x = tf.placeholder(tf.float32, SOUND.shape if known else None)
    spectra = tf.signal.stft(x, 16, 6, fft_length)
    starts = range(0, 203 - 16 + 1, 6)
    frames = np.stack([SOUND[:, at : at + 16] for at in starts], 1)
    window = scipy.signal.get_window("hann", 16)
    expected = np.fft.rfft(frames * window, fft_length or 16)
    found = run(spectra, {x: SOUND})
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    if known:
        assert spectra.shape.as_list() == list(expected.shape)


def test_a_signal_comes_back_from_its_spectra() -> None:
    spectra = tf.signal.stft(SOUND[:, :200], 20, 5, pad_end=True)
    window = tf.signal.inverse_stft_window_fn(5)
    back = run(tf.signal.inverse_stft(spectra, 20, 5, window_fn=window))
    np.testing.assert_allclose(back[:, 15:200], SOUND[:, 15:200], atol=1e-5)


def test_frames_along_any_axis() -> None:
    x = np.arange(24).reshape(2, 6, 2)
    found = run(tf.signal.frame(x, 4, 3, pad_end=True, pad_value=-1, axis=1))
    assert found.shape == (2, 2, 4, 2)
    np.testing.assert_array_equal(found[:, 0], x[:, :4])
    np.testing.assert_array_equal(found[:, 1, :3], x[:, 3:])
    np.testing.assert_array_equal(found[:, 1, 3], -np.ones((2, 2)))


@pytest.mark.parametrize("step", [1, 3, 4, 7])
def test_overlapping_frames_are_added(step: int) -> None:
    frames = RANDOM.randn(3, 5, 4).astype(np.float32)
    expected = np.zeros((3, 4 + 4 * step), np.float32)
    for i in range(5):
        expected[:, i * step : i * step + 4] += frames[:, i]
    given, apart = tf.placeholder(tf.float32), tf.placeholder_with_default(step, [])
    found = [tf.signal.overlap_and_add(given, apart), tf.signal.overlap_and_add(frames, step)]
    for each in run(found, {given: frames}):
        np.testing.assert_allclose(each, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 9, 10])
@pytest.mark.parametrize("periodic", [True, False])
def test_windows(length: int, periodic: bool) -> None:
    fed = tf.placeholder(tf.int32, [])
    functions = [tf.signal.hann_window, tf.signal.hamming_window]
    windows = [f(n, periodic, tf.float64) for f in functions for n in (length, fed)]
    n = max(length - 1 + (periodic and length % 2 == 0), 1)
    cosine = np.cos(2 * np.pi * np.arange(length) / n)
    hann, hamming = 0.5 - 0.5 * cosine, 0.54 - 0.46 * cosine
    if length == 1:
        hann = hamming = np.ones(1)
    expected = [hann, hann, hamming, hamming]
    for found, each in zip(run(windows, {fed: length}), expected, strict=True):
        np.testing.assert_allclose(found, each, atol=1e-12)


def test_mel_bands_are_triangles() -> None:
    weights = run(tf.signal.linear_to_mel_weight_matrix(5, 65, 8000, 125.0, 3800.0, tf.float64))
    mels = 1127.0 * np.log(1.0 + np.linspace(0, 4000, 65)[1:] / 700.0)
    marks = np.linspace(*(1127.0 * np.log(1.0 + np.array([125.0, 3800.0]) / 700.0)), 7)
    for band in range(5):
        expected = np.interp(mels, marks[band : band + 3], [0, 1, 0])
        np.testing.assert_allclose(weights[1:, band], expected, atol=1e-9)
    assert not weights[0].any()


def test_cepstra_are_scaled_cosine_transforms() -> None:
    x = SOUND[:, :20]
    found = run(tf.signal.mfccs_from_log_mel_spectrograms(x))
    np.testing.assert_allclose(found, scipy.fft.dct(x) / np.sqrt(40), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("transform", "shape", "length"),
    [
        (tf.signal.rfft, (2, 7), [5]),  # of which only a part is looked at
        (tf.signal.rfft, (2, 4), [7]),
        (tf.signal.rfft3d, (2, 3, 4), None),
        (tf.signal.rfft2d, (3, 4), [2, 5]),
        (tf.signal.irfft, (2, 7), [6]),
        (tf.signal.irfft3d, (2, 3, 3), [2, 3, 5]),
    ],
)
def test_gradients_are_differences(transform: Any, shape: tuple, length: Any) -> None:
    """The transforms are linear: the gradient of a sum with weights is what a unit adds to it."""
    x = tf.placeholder(tf.float32, shape)
    given = tf.complex(x, 0.5 * x) if "irfft" in transform.__name__ else x
    spectrum = transform(given, length)
    weights = RANDOM.randn(*spectrum.shape.as_list()).astype(np.float32)
    parts = [tf.real(spectrum), 2 * tf.imag(spectrum)] if spectrum.dtype.is_complex else [spectrum]
    loss = tf.add_n([tf.reduce_sum(part * weights) for part in parts])
    (gradient,) = tf.gradients(loss, x)
    with tf.Session() as session:
        found = session.run(gradient, {x: np.zeros(shape)})
        units = np.eye(found.size).reshape(-1, *shape)
        expected = [session.run(loss, {x: unit}) for unit in units]
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-3, atol=1e-4)


def test_the_middle_of_a_spectrum() -> None:
    x = np.arange(15).reshape(3, 5)
    for axes in (None, 1, (0, 1)):
        shifted = tf.signal.fftshift(x, axes)
        found, back = run([shifted, tf.signal.ifftshift(shifted, axes)])
        np.testing.assert_array_equal(found, np.fft.fftshift(x, axes))
        np.testing.assert_array_equal(back, x)


def test_contrib_has_the_names_too() -> None:
    assert tf.contrib.signal.stft is tf.signal.stft
    assert tf.spectral.rfft is tf.signal.rfft


def test_a_length_that_is_no_vector() -> None:
    with pytest.raises(ValueError, match=r"Shape .* must have rank 1"):
        tf.signal.rfft(SOUND, fft_length=[[4]])
