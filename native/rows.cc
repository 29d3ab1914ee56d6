// Rows of matrices: sums of exponentials, and the places of extremes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "tile.h"

namespace weft {
namespace {

constexpr float INFINITE = std::numeric_limits<float>::infinity();
constexpr long SHARE = 1 << 14;  // numbers that are worth the attention of another thread
constexpr int AT_ONCE = 4;       // vectors, so that none waits for the one before

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
float across(Vector value) {
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
float extreme(const float* row, long count) {
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

// Calls work(row) for all rows.
template <class Work>
void each_row(const Call& call, long rows, long columns, const Work& work) {
  const long tasks = std::clamp(rows * columns / SHARE, 1L, std::min(rows, 4 * call.threads()));
  call.parallel(tasks, [&](long task) {
    for (long row = task * rows / tasks; row < (task + 1) * rows / tasks; ++row) work(row);
  });
}

// Where the first extreme is; NaN is none.
template <class Fold>
long place(const float* row, long count) {
  constexpr long BLOCK = 256;
  float best = Fold::first;
  long at = 0;
  for (long i = 0; i < count; i += BLOCK) {
    const float here = extreme<Fold>(row + i, std::min(BLOCK, count - i));
    if (Fold::of(best, here) == best) continue;
    best = here;
    at = i;
  }
  if (best == Fold::first) return 0;
  while (row[at] != best) ++at;
  return at;
}

template <class Fold>
void places(const Call& call) {
  const long rows = call.sizes()[0], columns = call.sizes()[1];
  const float* x = call.in(0);
  int64_t* found = call.out<int64_t>(0);
  each_row(call, rows, columns,
           [&](long row) { found[row] = place<Fold>(x + row * columns, columns); });
}

}  // namespace

void softmax(const Call& call) {
  const long rows = call.sizes()[0], columns = call.sizes()[1];
  const float* x = call.in(0);
  float* y = call.out(0);
  each_row(call, rows, columns, [&](long row) {
    const float* from = x + row * columns;
    float* to = y + row * columns;
    const float most = extreme<Larger>(from, columns);
    const float sum = sum_of_powers(from, columns, most, [&](long i, long left, Vector powers) {
      store_part(to + i, left, powers);
    });
    for (long i = 0; i < columns; i += WIDTH) {
      store_part(to + i, columns - i, load_part(to + i, columns - i, 0) / all(sum));
    }
  });
}

// The largest of each row, and the sum of the powers of what all are less than it.
void sum_powers(const Call& call) {
  const long rows = call.sizes()[0], columns = call.sizes()[1];
  const float* x = call.in(0);
  float* found = call.out(0);
  each_row(call, rows, columns, [&](long row) {
    const float* from = x + row * columns;
    const float most = extreme<Larger>(from, columns);
    found[2 * row] = most;
    found[2 * row + 1] = sum_of_powers(from, columns, most, [](long, long, Vector) {});
  });
}

void place_of_largest(const Call& call) { places<Larger>(call); }

void place_of_smallest(const Call& call) { places<Smaller>(call); }

}  // namespace weft
