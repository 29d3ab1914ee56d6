// Convolutions with 3x3 or 5x5 filters by Winograd's way: of tiles of 4x4 or 2x2 results at once.
#pragma once

#include "windows.h"

namespace weft {

// Whether these windows are of a kind that has it, and large enough for it to take less time.
bool suits_winograd(const Windows& windows);

// y = x convolved with w, [taps, taps, channels, outputs]. `turned` says that w is [taps, taps,
// outputs, channels] with its taps the other way around.
void convolve_tiles(const Call& call, const Windows& windows, const float* x, const float* w,
                    bool turned, float* y);

// The gradient of the filters.
void convolve_filter_tiles(const Call& call, const Windows& windows, const float* x,
                           const float* gradient, float* w);

}  // namespace weft
