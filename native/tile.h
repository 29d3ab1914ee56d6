// Vectors, panels of them, and tiles: sums of products in registers.
#pragma once

#include <algorithm>
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

typedef int Places __attribute__((vector_size(4 * WIDTH)));

// Where the elements of two vectors go that take turns: those of their first or second halves.
template <int... I>
constexpr Places turns(int first, std::integer_sequence<int, I...>) {
  return Places{(first + I / 2 + I % 2 * WIDTH)...};
}

// Columns of a square become its rows: to[i] gets from[0][i], from[1][i], ...
inline void transpose(const float* from, long from_row, float* to, long to_row) {
  constexpr auto each = std::make_integer_sequence<int, WIDTH>{};
  constexpr Places low = turns(0, each), high = turns(WIDTH / 2, each);
  Vector rows[WIDTH], mixed[WIDTH];
#pragma GCC unroll 16
  for (int i = 0; i < WIDTH; ++i) rows[i] = load(from + i * from_row);
#pragma GCC unroll 4
  for (int done = 1; done < WIDTH; done *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < WIDTH / 2; ++i) {
      mixed[2 * i] = __builtin_shuffle(rows[i], rows[i + WIDTH / 2], low);
      mixed[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + WIDTH / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < WIDTH; ++i) rows[i] = mixed[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < WIDTH; ++i) store(to + i * to_row, rows[i]);
}

// The rows of a matrix as a panel: as many columns as a tile takes, zeros beyond the last.
inline void pack(const float* from, long rows, long columns, long step, float* to) {
  for (long r = 0; r < rows; ++r, from += step, to += PANEL) {
    if (columns == PANEL) {
      store(to, load(from));
      store(to + WIDTH, load(from + WIDTH));
    } else {
      std::copy_n(from, columns, to);
      std::fill_n(to + columns, PANEL - columns, 0.f);
    }
  }
}

// As `pack`, of the transposed matrix: `step` is between its columns.
inline void pack_turned(const float* from, long rows, long columns, long step, float* to) {
  const long square = rows / WIDTH * WIDTH, whole = columns / WIDTH * WIDTH;
  for (long n = 0; n < whole; n += WIDTH) {
    for (long r = 0; r < square; r += WIDTH) {
      transpose(from + n * step + r, step, to + r * PANEL + n, PANEL);
    }
  }
  for (long n = 0; n < PANEL; ++n) {
    for (long r = n < whole ? square : 0; r < rows; ++r) {
      to[r * PANEL + n] = n < columns ? from[n * step + r] : 0.f;
    }
  }
}

// How far apart the factors of a tile lie: those of neighbouring rows, and along the two indices
// that are summed over.
struct Steps {
  long row, outer, inner;
};

// Two sums: `outer` times `inner` products.
struct Sums {
  long outer, inner;
};

// c[r, :] = sum over i, j of a[r, i, j] * b[i, j, :], or += where `add`, for the tile's rows.
// `columns` of the registers' count; b has readable numbers for all of them.
using Tile = void (*)(const float* a, Steps of_a, const float* b, Steps of_b, Sums sums, float* c,
                      long c_row, int columns, bool add);

// The tile for so many rows and columns, at most ROWS and PANEL.
Tile tile_for(long rows, long columns);

}  // namespace weft
