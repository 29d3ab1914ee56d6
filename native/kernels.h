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

// pooling.cc
void max_pool(const Call&);
void max_pool_gradient(const Call&);
void average_pool(const Call&);
void average_pool_gradient(const Call&);

// depthwise.cc
void depthwise(const Call&);
void depthwise_input(const Call&);
void depthwise_filter(const Call&);

// rows.cc
void softmax(const Call&);
void sum_powers(const Call&);
void place_of_largest(const Call&);
void place_of_smallest(const Call&);

// attention.cc
void attend(const Call&);
void attend_gradient(const Call&);

// gather.cc
void gather_rows(const Call&);
void one_hot(const Call&);

// moments.cc
void moments(const Call&);

// turn.cc
void turn(const Call&);

}  // namespace weft
