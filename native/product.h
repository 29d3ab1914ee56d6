// Products of matrices, which are copied part by part from wherever they are, or read there.
#pragma once

#include <algorithm>

#include "call.h"
#include "tile.h"

namespace weft {

constexpr long DEPTH = 256;       // products that are summed before the next part is copied
constexpr long TALLEST = 336;     // rows of a part, whose copy stays near the core
constexpr long WIDEST = 512;      // columns of a part
constexpr long LEAST = 4 * ROWS;  // rows that are worth reading columns for
constexpr long SHARED = 1 << 24;  // numbers of a copy that all threads may share
constexpr long CROWDED = 512;     // numbers apart that fall to the same few places of a cache
constexpr long AHEAD = 4;         // rows that are fetched before they are copied

// A matrix in memory: how far apart its rows and columns are.
struct Matrix {
  const float* at;
  long row, column;
};

// Some rows and columns of a matrix.
struct Part {
  long row, rows, column, columns;
};

// A part of the left factor, which is read a tile at a time: a copy, or what it is a part of.
class Left {
 public:
  Left(long most_rows, long most_sums) : copy_(most_rows * step(most_sums)) {}

  void resize(const Part& part) {
    part_ = part;
    tiles_ = over(part.rows, ROWS);
  }
  const Part& part() const { return part_; }

  // The rows of the part as they are.
  void refer(const float* at, long step) {
    by_rows_ = true;
    at_ = at;
    step_ = step;
  }

  // A copy of each row, with a step that spreads them over a cache.
  float* row(long r) {
    refer(copy_.get(), step(part_.columns));
    return copy_.get() + r * step_;
  }

  // A column of the part: what the rows of a tile need at once lies together.
  void put_column(long k, const float* from) {
    by_rows_ = false;
    at_ = copy_.get();
    for (long t = 0; t < tiles_; ++t) {
      const long begin = first(t), count = first(t + 1) - begin;
      std::copy_n(from + begin, count, copy_.get() + begin * part_.columns + k * count);
    }
  }

  long tiles() const { return tiles_; }
  long first(long t) const { return t * part_.rows / tiles_; }
  const float* tile(long t) const {
    return at_ + first(t) * (by_rows_ ? step_ : part_.columns);
  }
  Steps steps(long t) const {
    if (by_rows_) return {step_, 0, 1};
    return {1, 0, first(t + 1) - first(t)};
  }

 private:
  static long step(long length) { return over(length, 16) * 16 + 16; }

  const Scratch<float> copy_;
  const float* at_ = nullptr;
  Part part_{};
  long tiles_ = 0, step_ = 0;
  bool by_rows_ = true;
};

// c = a b, as parts of it that threads share. `left(n, to)` takes a part of matrix n of the batch;
// `right(n, part, to)` copies one as panels. Where several parts need the same panels, all are copied
// first.
template <class TakeLeft, class CopyRight>
void multiply(const Call& call, long batch, long rows, long sums, long columns,
              const TakeLeft& left, const CopyRight& right, float* c) {
  const long enough = 2 * call.threads(), padded = over(columns, PANEL) * PANEL;
  const bool shared = batch == 1 && rows > TALLEST && padded * sums <= SHARED;
  const long even = over(over(rows, TALLEST / 2), enough) * enough;
  const long down = shared ? std::min(even, over(rows, LEAST)) : over(rows, TALLEST);
  const long least = shared ? 1 : over(columns, WIDEST), missing = over(enough, batch * down);
  const long across = std::min(padded / PANEL, std::max(least, missing));
  const long wide = over(over(columns, across), PANEL) * PANEL;
  const long deepest = std::min(sums, DEPTH), pieces = over(columns, WIDEST);
  const Scratch<float> panels(shared ? padded * sums : 0);
  const auto copy_panels = [&](long task) {
    const long from = task / pieces * DEPTH, first = task % pieces * WIDEST;
    const Part part{from, std::min(DEPTH, sums - from), first, std::min(WIDEST, columns - first)};
    right(0, part, panels.get() + from * padded + first * part.rows);
  };
  const auto products = [&](long task) {
    const long n = task / (down * across), piece = task / across % down;
    const long top = piece * rows / down, height = (piece + 1) * rows / down - top;
    const long first = task % across * wide, width = std::min(wide, columns - first);
    if (width <= 0) return;
    Left a(height, deepest);
    const Scratch<float> own(shared ? 0 : over(width, PANEL) * PANEL * deepest);
    for (long from = 0; from < sums; from += DEPTH) {
      const long depth = std::min(DEPTH, sums - from);
      a.resize({top, height, from, depth});
      left(n, a);
      if (!shared) right(n, Part{from, depth, first, width}, own.get());
      const float* b = shared ? panels.get() + from * padded + first * depth : own.get();
      for (long near = 0; near < width; near += WIDEST) {
        const long end = std::min(width, near + WIDEST);
        for (long t = 0; t < a.tiles(); ++t) {
          const long count = a.first(t + 1) - a.first(t);
          float* to = c + (n * rows + top + a.first(t)) * columns + first;
          for (long p = near; p < end; p += PANEL) {
            const long some = std::min<long>(PANEL, width - p);
            tile_for(count, some)(a.tile(t), a.steps(t), b + p * depth, {0, 0, PANEL}, {1, depth},
                                  to + p, columns, some, from > 0);
          }
        }
      }
    }
  };
  call.in_turn({{shared ? over(sums, DEPTH) * pieces : 0, copy_panels},
                {batch * down * across, products}});
}

// Takes a part of a matrix: rows as they are, unless a cache has no places for several of them; or
// a copy, row by row or column by column, whichever lie in one piece.
inline void take(const Matrix& a, Left& to) {
  const Part& part = to.part();
  const float* from = a.at + part.row * a.row + part.column * a.column;
  if (a.column == 1 && a.row % CROWDED != 0) {
    to.refer(from, a.row);
  } else if (a.column == 1) {
    for (long r = 0; r < part.rows; ++r) std::copy_n(from + r * a.row, part.columns, to.row(r));
  } else {
    for (long k = 0; k < part.columns; ++k) to.put_column(k, from + k * a.column);
  }
}

// A copy of a part as panels.
inline void panels_of(const Matrix& b, const Part& part, float* to) {
  const float* from = b.at + part.row * b.row + part.column * b.column;
  const long whole = b.column == 1 ? part.columns / PANEL * PANEL : 0;
  for (long r = 0; r < part.rows; ++r) {  // a row at a time, as it lies in memory
    const float* row = from + r * b.row;
    for (long p = 0; p < whole; p += PANEL) {
      pack(row + p, 1, PANEL, 0, to + p * part.rows + r * PANEL);
      __builtin_prefetch(row + p + AHEAD * b.row);
      __builtin_prefetch(row + p + AHEAD * b.row + PANEL / 2);
    }
  }
  for (long p = whole; p < part.columns; p += PANEL) {
    (b.column == 1 ? pack : pack_turned)(from + p * b.column, part.rows,
                                         std::min<long>(PANEL, part.columns - p),
                                         std::max(b.row, b.column), to + p * part.rows);
  }
}

}  // namespace weft
