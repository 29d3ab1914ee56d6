// Sums of products in registers: the one inner loop of convolutions and products of matrices.
#pragma once

#include <cstring>
#include <utility>

namespace weft {

// How many numbers a register holds, and how many rows of a result the registers hold beside two
// of columns and one factor.
#if defined(__AVX512F__)
constexpr int WIDTH = 16, ROWS = 14;
#elif defined(__AVX2__)
constexpr int WIDTH = 8, ROWS = 6;
#else
constexpr int WIDTH = 4, ROWS = 14;  // ARM
#endif
constexpr int PANEL = 2 * WIDTH;  // columns that are computed at once

typedef float Vector __attribute__((vector_size(4 * WIDTH)));
typedef float Unaligned __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(float* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
inline Vector all(float value) { return value - Vector{}; }

// How far apart the factors of a tile lie: those of neighbouring rows, and along the two indices
// that are summed over.
struct Steps {
  long row, outer, inner;
};

// Two sums: `outer` times `inner` products.
struct Sums {
  long outer, inner;
};

// c[r, :] = sum over i, j of a[r, i, j] * b[i, j, :], or += where `add`.
// `columns` of the N registers' count; b has readable numbers for all of them.
template <int R, int N>
void tile(const float* a, Steps of_a, const float* b, Steps of_b, Sums sums, float* c, long c_row,
          int columns, bool add) {
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

using Tile = void (*)(const float*, Steps, const float*, Steps, Sums, float*, long, int, bool);

template <int N, int... R>
Tile tile_of(int rows, std::integer_sequence<int, R...>) {
  static constexpr Tile tiles[] = {tile<R + 1, N>...};
  return tiles[rows - 1];
}

// The tile for so many rows and columns, at most ROWS and PANEL.
inline Tile tile_for(long rows, long columns) {
  constexpr auto counts = std::make_integer_sequence<int, ROWS>{};
  return columns > WIDTH ? tile_of<2>(rows, counts) : tile_of<1>(rows, counts);
}

}  // namespace weft
