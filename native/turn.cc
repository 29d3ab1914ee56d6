// Matrices whose rows become columns.
#include <algorithm>

#include "kernels.h"
#include "tile.h"

namespace weft {
namespace {

constexpr long STRIP = 64;         // columns that are turned together: whole lines, few pages
constexpr long AHEAD = 2 * WIDTH;  // numbers by which a place is asked for before it is written

// Turns a square, or what there is of one at the border.
void turn_square(const float* from, long from_row, float* to, long to_row, long rows,
                 long columns) {
  for (long i = 0; i < columns; ++i) __builtin_prefetch(to + i * to_row + AHEAD, 1);
  if (rows == WIDTH && columns == WIDTH) return transpose(from, from_row, to, to_row);
  for (long i = 0; i < columns; ++i) {
    for (long j = 0; j < rows; ++j) to[i * to_row + j] = from[j * from_row + i];
  }
}

}  // namespace

// Many matrices of so many rows and columns.
void turn(const Call& call) {
  const long count = call.sizes()[0], rows = call.sizes()[1], columns = call.sizes()[2];
  const long strips = over(columns, STRIP), size = rows * columns;
  const float* x = call.in(0);
  float* y = call.out(0);
  call.parallel(count * strips, [&](long part) {
    const float* from = x + part / strips * size;
    float* to = y + part / strips * size;
    const long first = part % strips * STRIP, last = std::min(first + STRIP, columns);
    for (long r = 0; r < rows; r += WIDTH) {
      for (long c = first; c < last; c += WIDTH) {
        turn_square(from + r * columns + c, columns, to + c * rows + r, rows,
                    std::min<long>(WIDTH, rows - r), std::min<long>(WIDTH, last - c));
      }
    }
  });
}

}  // namespace weft
