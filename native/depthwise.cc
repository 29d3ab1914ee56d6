// Convolutions in which every channel has its own m filters: images [n, h, w, c], filters
// [kh, kw, c, m], results [n, rows, columns, c * m].
//
// What is read of an image with m > 1 is repeated first, so that all else knows one filter for each
// channel. Windows are cut off at the borders.
#include "kernels.h"
#include "windows.h"

namespace weft {
namespace {

constexpr int BESIDE = 4;  // results of a row that are computed at once
constexpr int TAPS = 8;    // taps of a filter whose gradients are
constexpr long NEAR = 16;  // results of a row that a core keeps near meanwhile

// How far apart in their arrays lie the rows and columns of taps, those of what is under them,
// neighbouring results, and what is under those.
struct Walk {
  long tap_rows, tap_columns, rows, columns, results, beside;
};

// N neighbouring results, from so many rows and columns of taps.
template <int N>
void add_up(const float* x, const float* w, const Walk& walk, long rows, long columns,
            long channels, float* y) {
  each_vector(channels, [&](long at) {
    Vector sum[N] = {};
    for (long i = 0; i < rows; ++i) {
      const float* under = x + i * walk.rows + at;
      const float* tap = w + i * walk.tap_rows + at;
      for (long j = 0; j < columns; ++j, under += walk.columns, tap += walk.tap_columns) {
        const Vector factor = load(tap);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[n] += factor * load(under + n * walk.beside);
      }
    }
    for (int n = 0; n < N; ++n) store(y + n * walk.results + at, sum[n]);
  });
}

using AddUp = void (*)(const float*, const float*, const Walk&, long, long, long, float*);
constexpr AddUp ADD_UP[] = {add_up<1>, add_up<2>, add_up<3>, add_up<4>};

// The sums for N neighbouring taps of the products at `count` neighbouring results are added to
// `sums`. Registers of channels that overlap have their own places there.
template <int N>
void add_products(const float* x, const float* g, long step, long beside, long count,
                  long channels, float* sums, long of_sums) {
  long slot = 0;
  each_vector(channels, [&](long at) {
    Vector sum[N];
    for (int n = 0; n < N; ++n) sum[n] = load(sums + n * of_sums + slot);
    const float *under = x + at, *factors = g + at;
    for (long i = 0; i < count; ++i, under += beside, factors += channels) {
      const Vector factor = load(factors);
#pragma GCC unroll 8
      for (int n = 0; n < N; ++n) sum[n] += factor * load(under + n * step);
    }
    for (int n = 0; n < N; ++n) store(sums + n * of_sums + slot, sum[n]);
    slot += WIDTH;
  });
}

using AddProducts = void (*)(const float*, const float*, long, long, long, long, float*, long);
constexpr AddProducts ADD_PRODUCTS[] = {add_products<1>, add_products<2>, add_products<3>,
                                        add_products<4>, add_products<5>, add_products<6>,
                                        add_products<7>, add_products<8>};

// Every number m times in a row, and up to WIDTH more of the last.
void repeat(const float* from, long count, long m, float* to) {
  for (long i = 0; i < count; ++i) {
    for (long j = 0; j < m; j += WIDTH) store(to + i * m + j, all(from[i]));
  }
}

// The sums of m neighbours; M is m, or 0 for any.
template <int M>
void join(const float* from, long count, long m, float* to) {
  if (M > 0) m = M;
  for (long i = 0; i < count; ++i) {
    float sum = from[i * m];
    for (long j = 1; j < m; ++j) sum += from[i * m + j];
    to[i] = sum;
  }
}

using Join = void (*)(const float*, long, long, float*);
constexpr Join JOIN[] = {join<0>, join<1>, join<2>, join<3>, join<4>,
                         join<5>, join<6>, join<7>, join<8>};

// The rows of an image that windows `from` to `until` may see; where there are several filters for
// each channel a copy of them, with channels repeated.
class Rows {
 public:
  Rows(const Windows& windows, const float* image, long from, long until)
      : m_(windows.outputs / windows.channels),
        line_(windows.columns.image * windows.channels),
        first_(m_ == 1 ? 0 : start(windows.rows, from)),
        count_(m_ == 1 ? 0 : (end(windows.rows, until) - first_) * line_),
        copy_(count_ * m_ + WIDTH), image_(image) {
    if (m_ == 1) return;
    repeat(image + first_ * line_, count_, m_, copy_.get());
    image_ = copy_.get();
  }

  const float* at(long row) const { return image_ + (row - first_) * line_ * m_; }

 private:
  static long start(const Axis& rows, long from) {
    return std::clamp(from * rows.stride - rows.before, 0L, rows.image);
  }
  static long end(const Axis& rows, long until) {
    const long reach = (rows.window - 1) * rows.dilation + 1;
    return std::clamp((until - 1) * rows.stride - rows.before + reach, 0L, rows.image);
  }

  const long m_, line_, first_, count_;
  const Scratch<float> copy_;
  const float* image_;
};

}  // namespace

void depthwise(const Call& call) {
  const Windows windows(call.sizes());
  const Axis &down = windows.rows, &across = windows.columns;
  const long c = windows.outputs, image = down.image * across.image * windows.channels;
  const float *x = call.in(0), *w = call.in(1);
  float* y = call.out(0);
  const Reaches columns(across.results, [&](long i) { return across.seen_by(i); });
  const Walk walk{across.window * c, c, down.dilation * across.image * c, across.dilation * c,
                  c, across.stride * c};
  share_rows(call, windows.images, down.results, 1, across.image * c * down.stride,
             [&](long n, long from, long until) {
    const Rows seen(windows, x + n * image, from, until);
    for (long row = from; row < until; ++row) {
      const Reach v = down.seen_by(row);
      const float* line = seen.at(v.position);
      float* to = y + (n * down.results + row) * across.results * c;
      columns.runs(1, BESIDE, [&](long first, long many, const Reach& u) {
        ADD_UP[many - 1](line + u.position * c, w + (v.tap * across.window + u.tap) * c, walk,
                         v.count, u.count, c, to + first * c);
      });
    }
  });
}

void depthwise_input(const Call& call) {
  const Windows windows(call.sizes());
  const Axis &down = windows.rows, &across = windows.columns;
  const long c = windows.outputs, m = c / windows.channels;
  const long wide = across.image * windows.channels;
  const float *w = call.in(0), *gradient = call.in(1);
  float* x = call.out(0);
  const Reaches columns(across.image, [&](long i) { return across.seeing(i); });
  const Walk walk{down.stride * across.window * c, across.stride * c,
                  -down.dilation * across.results * c, -across.dilation * c,
                  across.stride * c, c};
  share_rows(call, windows.images, down.image, 1, across.image * c,
             [&](long n, long from, long until) {
    const Scratch<float> separate(m == 1 ? 0 : wide * m);
    for (long row = from; row < until; ++row) {
      const Reach v = down.seeing(row);
      const float* line = gradient + (n * down.results + v.position) * across.results * c;
      float* result = x + (n * down.image + row) * wide;
      float* to = m == 1 ? result : separate.get();
      columns.runs(across.stride, BESIDE, [&](long first, long many, const Reach& u) {
        ADD_UP[many - 1](line + u.position * c, w + (v.tap * across.window + u.tap) * c, walk,
                         v.count, u.count, c, to + first * c);
      });
      if (m > 1) JOIN[m <= 8 ? m : 0](to, wide, m, result);
    }
  });
}

// Each thread adds up the products of its part of the images; then the parts are added.
void depthwise_filter(const Call& call) {
  const Windows windows(call.sizes());
  const Axis &down = windows.rows, &across = windows.columns;
  const long c = windows.outputs, image = down.image * across.image * windows.channels;
  const long padded = over(c, WIDTH) * WIDTH, numbers = down.window * across.window * padded;
  const float *x = call.in(0), *gradient = call.in(1);
  const Reaches columns(across.results, [&](long i) { return across.seen_by(i); });
  // Sums over few rows, which are then added, are rounded less than one over all.
  const long rows = std::min(down.results, 8L), chunks = over(down.results, rows);
  const long pieces = windows.images * chunks, parts = std::min(pieces, call.threads());
  const Scratch<float> totals(parts * numbers);
  call.parallel(parts, [&](long part) {
    const Scratch<float> sums(numbers);
    float* total = totals.get() + part * numbers;
    std::fill_n(total, numbers, 0.f);
    for (long piece = part * pieces / parts; piece < (part + 1) * pieces / parts; ++piece) {
      const long n = piece / chunks, from = piece % chunks * rows;
      const long until = std::min(down.results, from + rows);
      const Rows seen(windows, x + n * image, from, until);
      std::fill_n(sums.get(), numbers, 0.f);
      for (long row = from; row < until; ++row) {
        const Reach v = down.seen_by(row);
        const float* g = gradient + (n * down.results + row) * across.results * c;
        columns.runs(1, NEAR, [&](long first, long many, const Reach& u) {
          for (long i = 0; i < v.count; ++i) {
            const float* line = seen.at(v.position + i * down.dilation) + u.position * c;
            float* to = sums.get() + ((v.tap + i) * across.window + u.tap) * padded;
            for (long j = 0; j < u.count; j += TAPS) {
              ADD_PRODUCTS[std::min<long>(TAPS, u.count - j) - 1](
                  line + j * across.dilation * c, g + first * c, across.dilation * c,
                  across.stride * c, many, c, to + j * padded, padded);
            }
          }
        });
      }
      for (long i = 0; i < numbers; ++i) total[i] += sums.get()[i];
    }
  });
  for (long part = 1; part < parts; ++part) {
    const float* other = totals.get() + part * numbers;
    for (long i = 0; i < numbers; ++i) totals.get()[i] += other[i];
  }
  for (long tap = 0; tap < down.window * across.window; ++tap) {
    const float* from = totals.get() + tap * padded;
    each_vector(c, [&](long at) {
      store(call.out(0) + tap * c + at, load(from));
      from += WIDTH;
    });
  }
}

}  // namespace weft
