# Written by `make stubs` from weft/api/signal.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.signal import dct as dct
from weft.lib.signal import fft as fft
from weft.lib.signal import fft2d as fft2d
from weft.lib.signal import fft3d as fft3d
from weft.lib.signal import fftshift as fftshift
from weft.lib.signal import frame as frame
from weft.lib.signal import hamming_window as hamming_window
from weft.lib.signal import hann_window as hann_window
from weft.lib.signal import idct as idct
from weft.lib.signal import ifft as ifft
from weft.lib.signal import ifft2d as ifft2d
from weft.lib.signal import ifft3d as ifft3d
from weft.lib.signal import ifftshift as ifftshift
from weft.lib.signal import inverse_stft as inverse_stft
from weft.lib.signal import inverse_stft_window_fn as inverse_stft_window_fn
from weft.lib.signal import irfft as irfft
from weft.lib.signal import irfft2d as irfft2d
from weft.lib.signal import irfft3d as irfft3d
from weft.lib.signal import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from weft.lib.signal import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from weft.lib.signal import overlap_and_add as overlap_and_add
from weft.lib.signal import rfft as rfft
from weft.lib.signal import rfft2d as rfft2d
from weft.lib.signal import rfft3d as rfft3d
from weft.lib.signal import stft as stft
