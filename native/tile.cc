// The one inner loop of convolutions and products of matrices.
#include "tile.h"

#include <cstring>

namespace weft {
namespace {

// Of N registers for each of R rows.
template <int R, int N>
void tile(const float* a, Steps of_a, const float* b, Steps of_b, Sums sums, float* c, long c_row,
          int columns, bool add) {
  if (!add) {  // where the results go is brought here while they are computed
    for (int r = 0; r < R; ++r) {
      for (int n = 0; n < N; ++n) __builtin_prefetch(c + r * c_row + n * WIDTH, 1);
    }
  }
  Vector total[R][N] = {};
  for (long i = 0; i < sums.outer; ++i) {
    const float* factors = a + i * of_a.outer;
    const float* rows = b + i * of_b.outer;
    for (long j = 0; j < sums.inner; ++j, factors += of_a.inner, rows += of_b.inner) {
      Vector row[N];
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) row[n] = load(rows + n * WIDTH);
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const Vector factor = all(factors[r * of_a.row]);
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n) total[r][n] += factor * row[n];
      }
    }
  }
  for (int r = 0; r < R; ++r, c += c_row) {
    if (columns == N * WIDTH) {
      for (int n = 0; n < N; ++n) {
        float* to = c + n * WIDTH;
        store(to, add ? load(to) + total[r][n] : total[r][n]);
      }
      continue;
    }
    float row[N * WIDTH];
    std::memcpy(row, total[r], sizeof row);
    for (int n = 0; n < columns; ++n) c[n] = add ? c[n] + row[n] : row[n];
  }
}

template <int N, int... R>
Tile tile_of(int rows, std::integer_sequence<int, R...>) {
  static constexpr Tile tiles[] = {tile<R + 1, N>...};
  return tiles[rows - 1];
}

}  // namespace

Tile tile_for(long rows, long columns) {
  constexpr auto counts = std::make_integer_sequence<int, ROWS>{};
  return columns > WIDTH ? tile_of<2>(rows, counts) : tile_of<1>(rows, counts);
}

}  // namespace weft
