// The one inner loop of convolutions and products of matrices.
#include "tile.h"

namespace weft {
namespace {

// Where sums go is brought near while they are computed: the nearer cache could not keep what they are
// added to for so long.
template <int R, int N, int NEARNESS>
inline void bring(const float* c, long c_row) {
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) __builtin_prefetch(c + r * c_row + n * WIDTH, 1, NEARNESS);
  }
}

// The sums go to the rows of c, or are added to them.
template <int R, int N>
inline void put(const Vector (&total)[R][N], float* c, long c_row, bool add) {
  if (add) {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, c += c_row) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) store(c + n * WIDTH, load(c + n * WIDTH) + total[r][n]);
    }
  } else {
#pragma GCC unroll 14
    for (int r = 0; r < R; ++r, c += c_row) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) store(c + n * WIDTH, total[r][n]);
    }
  }
}

// The same of some columns, from memory.
void put_columns(const float* total, long step, int rows, int columns, float* c, long c_row,
                 bool add) {
  for (int r = 0; r < rows; ++r, total += step, c += c_row) {
    for (int n = 0; n < columns; ++n) c[n] = add ? c[n] + total[n] : total[n];
  }
}

// Rows of b lie one after the other, and are fetched so many ahead.
constexpr long AHEAD = 8;

// What lies behind rows of a is likely to be next; of it, a line of a cache is fetched with each sum.
constexpr long LINE = 16;

// Rows of a that are reached from one pointer: more of them need more registers than there are.
constexpr int NEAR = 5, POINTERS = (ROWS + NEAR - 1) / NEAR;

// Of N registers for each of R rows.
template <int R, int N>
void tile(const float* a, Steps of_a, const float* b, Steps of_b, Sums sums, float* c, long c_row,
          int columns, bool add) {
  if (add) bring<R, N, 2>(c, c_row);
  else bring<R, N, 3>(c, c_row);
  Vector total[R][N];
#pragma GCC unroll 14
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) total[r][n] = Vector{};
  }
  const long line = of_a.inner == 1 ? LINE : 0;
  for (long i = 0; i < sums.outer; ++i) {
    const float* rows = b + i * of_b.outer;
    const float* factors[POINTERS];
#pragma GCC unroll 3
    for (int k = 0; k < POINTERS; ++k) factors[k] = a + i * of_a.outer + k * NEAR * of_a.row;
    const float* next = a + i * of_a.outer + R * of_a.row;
    for (long j = 0; j < sums.inner; ++j, rows += of_b.inner, next += line) {
      __builtin_prefetch(next, 0, 2);
      Vector row[N];
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) {
        row[n] = load(rows + n * WIDTH);
        __builtin_prefetch(rows + AHEAD * PANEL + n * WIDTH);
      }
#pragma GCC unroll 14
      for (int r = 0; r < R; ++r) {
        const Vector factor = all(factors[r / NEAR][r % NEAR * of_a.row]);
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n) total[r][n] += factor * row[n];
      }
#pragma GCC unroll 3
      for (int k = 0; k < POINTERS; ++k) factors[k] += of_a.inner;
    }
  }
  if (columns == N * WIDTH) {
    put<R, N>(total, c, c_row, add);
  } else {
    float made[R][N * WIDTH];
    put<R, N>(total, made[0], N * WIDTH, false);
    put_columns(made[0], N * WIDTH, R, columns, c, c_row, add);
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
