// Means and variances of the columns of a matrix, as batch normalization has them for channels.
//
// A block of rows near the core is gone through twice, for its mean and for the squares of the
// distances to that; blocks are then joined, so that little is lost of large means. Columns fill
// registers.
#include <algorithm>

#include "kernels.h"
#include "windows.h"

namespace weft {
namespace {

constexpr long BLOCK = 4096;  // numbers of a block
constexpr long PARTS = 64;    // at most, which do not depend on the number of threads

// What is known of some rows: the mean of each column, and the sum of the squares of the distances.
struct Moments {
  float *mean, *squares;
};

// Joins what is known of `more` rows to what is of `count` others, for one register of columns.
inline void join(Vector& mean, Vector& squares, float count, Vector other, Vector others,
                 float more) {
  const Vector distance = other - mean;
  mean += distance * all(more / (count + more));
  squares += others + distance * distance * all(count * more / (count + more));
}

// The moments of rows `from` to `until`.
void gather(const float* x, long from, long until, long columns, const Moments& to) {
  const long rows = std::max(1L, BLOCK / columns);
  for (long first = from; first < until; first += rows) {
    const long more = std::min(rows, until - first);
    const float* block = x + first * columns;
    const float count = first - from;
    each_vectors(columns, [&](long at, auto width) {
      constexpr int N = width.value;
      Vector sums[N] = {}, squares[N] = {};
      for (long r = 0; r < more; ++r) {
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sums[n] += load(block + r * columns + at + n * WIDTH);
      }
      for (int n = 0; n < N; ++n) sums[n] *= all(1.f / more);
      for (long r = 0; r < more; ++r) {
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) {
          const Vector distance = load(block + r * columns + at + n * WIDTH) - sums[n];
          squares[n] += distance * distance;
        }
      }
      for (int n = 0; n < N; ++n) {
        float *mean = to.mean + at + n * WIDTH, *total = to.squares + at + n * WIDTH;
        if (count > 0) {
          Vector before = load(mean), sum = load(total);
          join(before, sum, count, sums[n], squares[n], more);
          sums[n] = before;
          squares[n] = sum;
        }
        store(mean, sums[n]);
        store(total, squares[n]);
      }
    });
  }
}

}  // namespace

void moments(const Call& call) {
  const long rows = call.sizes()[0], columns = call.sizes()[1];
  const float* x = call.in(0);
  const long parts = std::clamp(rows * columns / BLOCK, 1L, std::min(rows, PARTS));
  const Scratch<float> found(2 * parts * columns);
  const auto of = [&](long part) {
    float* mean = found.get() + 2 * part * columns;
    return Moments{mean, mean + columns};
  };
  const auto start = [&](long part) { return part * rows / parts; };
  call.parallel(parts, [&](long part) {
    gather(x, start(part), start(part + 1), columns, of(part));
  });
  const Moments to{call.out(0), call.out(0) + columns};
  std::copy_n(of(0).mean, 2 * columns, to.mean);
  for (long part = 1; part < parts; ++part) {
    for (long i = 0; i < columns; ++i) {
      const float count = start(part), more = start(part + 1) - start(part);
      const float distance = of(part).mean[i] - to.mean[i];
      to.mean[i] += distance * (more / (count + more));
      to.squares[i] += of(part).squares[i] + distance * distance * (count * more / (count + more));
    }
  }
  for (long i = 0; i < columns; ++i) to.squares[i] /= rows;
}

}  // namespace weft
