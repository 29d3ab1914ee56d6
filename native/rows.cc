// Rows of matrices: sums of exponentials, and the places of extremes.
#include "rows.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace weft {
namespace {

constexpr long SHARE = 1 << 14;  // numbers that are worth the attention of another thread

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
