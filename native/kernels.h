// The kernels that the module offers, each a function of a call.
#pragma once

#include "call.h"

namespace weft {

// convolution.cc
void convolve(const Call&);
void convolve_input(const Call&);
void convolve_filter(const Call&);

// product.cc
void multiply(const Call&);

}  // namespace weft
