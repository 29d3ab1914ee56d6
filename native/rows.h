// What is done along a row of numbers: one number of all, and exponentials.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tile.h"

namespace weft {

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr int AT_ONCE = 4;  // vectors, so that none waits for the one before

typedef uint32_t Bits __attribute__((vector_size(4 * WIDTH)));

// What lies at `from`, with `rest` in place of what is beyond `count`.
inline Vector load_part(const float* from, long count, float rest) {
  if (count >= WIDTH) return load(from);
  float all[WIDTH];
  std::fill_n(all, WIDTH, rest);
  std::copy_n(from, count, all);
  return load(all);
}

inline void store_part(float* to, long count, Vector value) {
  if (count >= WIDTH) return store(to, value);
  float all[WIDTH];
  store(all, value);
  std::copy_n(all, count, to);
}

struct Larger {
  template <class T>
  static T of(T a, T b) { return a > b ? a : b; }  // b where a is NaN
  static constexpr float first = -INFINITE;
};

struct Smaller {
  template <class T>
  static T of(T a, T b) { return a < b ? a : b; }
  static constexpr float first = INFINITE;
};

struct Sum {
  template <class T>
  static T of(T a, T b) { return a + b; }
  static constexpr float first = 0;
};

// One number of the numbers of a vector.
template <class Fold>
inline float across(Vector value) {
  float parts[WIDTH];
  store(parts, value);
#pragma GCC unroll 5
  for (int half = WIDTH / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < half; ++i) parts[i] = Fold::of(parts[i], parts[i + half]);
  }
  return parts[0];
}

// One number of all in a row, whose vectors `of(at, count)` gives: those from `at` on, of which
// there are `count` or as many as a vector has.
template <class Fold, class Of>
inline float fold(long count, const Of& of) {
  Vector all_of[AT_ONCE];
  for (Vector& one : all_of) one = all(Fold::first);
  long i = 0;
  for (; i + AT_ONCE * WIDTH <= count; i += AT_ONCE * WIDTH) {
#pragma GCC unroll 4
    for (int n = 0; n < AT_ONCE; ++n) {
      all_of[n] = Fold::of(of(i + n * WIDTH, WIDTH), all_of[n]);
    }
  }
  for (; i < count; i += WIDTH) all_of[0] = Fold::of(of(i, count - i), all_of[0]);
  return across<Fold>(
      Fold::of(Fold::of(all_of[0], all_of[1]), Fold::of(all_of[2], all_of[3])));
}

template <class Fold>
inline float extreme(const float* row, long count) {
  return fold<Fold>(count,
                    [&](long i, long left) { return load_part(row + i, left, Fold::first); });
}

// e to the power of numbers up to 0; 0 below what a normal number can hold.
inline Vector power(Vector x) {
  // x = n * log(2) + r, and the bits of `shifted` end with n.
  const Vector shift = all(12582912), shifted = x * all(1.44269504f) + shift, n = shifted - shift;
  const Vector r = (x - n * all(0.693359375f)) + n * all(2.12194440e-4f);
  Vector series = all(0.00138145401f);
  for (const float factor : {0.00836874521f, 0.0416683908f, 0.166665204f, 0.499999934f}) {
    series = series * r + all(factor);
  }
  series = series * (r * r) + r + all(1);
  const Vector two_to_n = (Vector)(((Bits)shifted << 23) + 0x3f800000u);
  return x < all(-87.3365f) ? Vector{} : series * two_to_n;
}

// The sum of the powers of a row, less the largest of it, which `keep(at, count, powers)` may note.
template <class Keep>
inline float sum_of_powers(const float* row, long count, float most, const Keep& keep) {
  return fold<Sum>(count, [&](long i, long left) {
    const Vector powers = power(load_part(row + i, left, -INFINITE) - all(most));
    keep(i, left, powers);
    return powers;
  });
}

}  // namespace weft
