// Products of matrices, one or a batch of them, each factor as it is or transposed.
#include <algorithm>

#include "kernels.h"
#include "tile.h"

namespace weft {
namespace {

constexpr long DEPTH = 256;    // products that are summed before the next part is copied
constexpr long TALLEST = 336;  // rows of a task's part, whose copy stays near the core
constexpr long WIDEST = 512;   // columns of a task's part

// A matrix in memory: how far apart its rows and columns are.
struct Matrix {
  const float* at;
  long row, column;
};

// A copy of some rows or columns, whichever lie in one piece, with a step that spreads them over a
// cache.
Matrix copied(const Matrix& a, long rows, long columns, float* to) {
  const bool by_rows = a.column == 1;
  const long count = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const long step = over(length, 16) * 16 + 16;
  for (long i = 0; i < count; ++i) {
    std::copy_n(a.at + i * (by_rows ? a.row : a.column), length, to + i * step);
  }
  return by_rows ? Matrix{to, step, 1} : Matrix{to, 1, step};
}

// c = a b, for a part of a product that one thread computes.
void multiply(const Matrix& a, const Matrix& b, long rows, long sums, long columns, float* c,
              long c_row) {
  const long deepest = std::min(sums, DEPTH), tiles = over(rows, ROWS);
  const Scratch<float> left((rows + 32) * (deepest + 32));
  const Scratch<float> right(over(columns, PANEL) * PANEL * deepest);
  for (long from = 0; from < sums; from += DEPTH) {
    const long depth = std::min(DEPTH, sums - from);
    const Matrix near = copied({a.at + from * a.column, a.row, a.column}, rows, depth, left.get());
    for (long p = 0; p < columns; p += PANEL) {
      (b.column == 1 ? pack : pack_turned)(b.at + from * b.row + p * b.column, depth,
                                           std::min<long>(PANEL, columns - p),
                                           std::max(b.row, b.column), right.get() + p * depth);
    }
    for (long t = 0; t < tiles; ++t) {
      const long first = t * rows / tiles, count = (t + 1) * rows / tiles - first;
      for (long p = 0; p < columns; p += PANEL) {
        const long wide = std::min<long>(PANEL, columns - p);
        tile_for(count, wide)(near.at + first * near.row, {near.row, 0, near.column},
                              right.get() + p * depth, {0, 0, PANEL}, {1, depth},
                              c + first * c_row + p, c_row, wide, from > 0);
      }
    }
  }
}

}  // namespace

void multiply(const Call& call) {
  const int64_t* s = call.sizes();
  const long batch = s[0], rows = s[1], sums = s[2], columns = s[3];
  const Matrix a{call.in(0), s[4] ? 1 : sums, s[4] ? rows : 1};
  const Matrix b{call.in(1), s[5] ? 1 : columns, s[5] ? sums : 1};
  // Parts that are even, as few as leave each thread some.
  const long threads = call.threads();
  const long down = over(rows, TALLEST);
  const long wanted = batch * down >= 4 * threads ? 1 : over(4 * threads, batch * down);
  const long across = std::min(over(columns, PANEL), std::max(over(columns, WIDEST), wanted));
  const long tall = over(over(rows, down), ROWS) * ROWS;
  const long wide = over(over(columns, across), PANEL) * PANEL;
  call.parallel(batch * down * across, [&](long task) {
    const long n = task / (down * across);
    const long top = std::min(rows, task / across % down * tall), left = task % across * wide;
    const long height = std::min(tall, rows - top), width = std::min(wide, columns - left);
    if (height <= 0 || width <= 0) return;
    multiply({a.at + n * rows * sums + top * a.row, a.row, a.column},
             {b.at + n * sums * columns + left * b.column, b.row, b.column}, height, sums, width,
             call.out(0) + (n * rows + top) * columns + left, columns);
  });
}

}  // namespace weft
