# Written by `make stubs` from weft/api/spectral.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.signal import dct as dct
from weft.lib.signal import fft as fft
from weft.lib.signal import fft2d as fft2d
from weft.lib.signal import fft3d as fft3d
from weft.lib.signal import idct as idct
from weft.lib.signal import ifft as ifft
from weft.lib.signal import ifft2d as ifft2d
from weft.lib.signal import ifft3d as ifft3d
from weft.lib.signal import irfft as irfft
from weft.lib.signal import irfft2d as irfft2d
from weft.lib.signal import irfft3d as irfft3d
from weft.lib.signal import rfft as rfft
from weft.lib.signal import rfft2d as rfft2d
from weft.lib.signal import rfft3d as rfft3d
