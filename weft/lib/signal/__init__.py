"""tf.signal: transforms, frames and windows of signals, and what speech is recognized by."""

from weft.lib.signal.cosine import dct, idct
from weft.lib.signal.fourier import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from weft.lib.signal.frames import frame, overlap_and_add
from weft.lib.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from weft.lib.signal.spectra import inverse_stft, inverse_stft_window_fn, stft
from weft.lib.signal.windows import hamming_window, hann_window

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "idct",
    "ifft", "ifft2d", "ifft3d", "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms",
    "overlap_and_add", "rfft", "rfft2d", "rfft3d", "stft",
]  # fmt: skip
