// A tile of 6x6 pixels, a filter and a tile of results, 4x4 of them for 3x3 taps and 2x2 for 5x5,
// are seen as polynomials, given by their values at 6x6 points. There a convolution is a product, of
// 36 numbers in place of 144 or 100; over all channels and tiles that makes 36 products of matrices.
//
// Rounding errors are some times those of sums of products, and what is not finite spoils the tiles
// that it is in.
#include "winograd.h"

#include "rows.h"

namespace weft {
namespace {

constexpr int REACH = 6, POINTS = REACH * REACH;
constexpr long FEWEST = 24;     // channels for which changing images costs less than it saves
constexpr long ROOM = 1 << 25;  // numbers that filters or the sums of all threads may take
constexpr long MANY = 64;       // tiles whose changes of filters are worth adding to the sum
constexpr int MOST_PARTS = 64;  // of which each has a sum
constexpr long SPREAD = 16;     // numbers between two points, lest all fall to one place of a cache

// Along one axis: from pixels, taps and results to values at points 0, A, -A, B, -B and infinity, and
// back. Pixels give what interpolates them times `AT_A`, ..., taps what is divided by that. What gives
// results is the transpose of what they are changed by for their gradient, and so with taps. Of the
// points with few digits these round the least, by a fifth of 1 and 2.
constexpr float A = 0.625f, B = 1.5f;
constexpr float A2 = A * A, B2 = B * B;
constexpr float AT_0 = A2 * B2, AT_A = 2 * A2 * (A2 - B2), AT_B = 2 * B2 * (B2 - A2);

struct FromPixels {
  static constexpr int given = REACH, made = REACH;
  static void of(const Vector* d, Vector* to) {
    const Vector even_a = d[4] - all(B2) * d[2], odd_a = all(A) * (d[3] - all(B2) * d[1]);
    const Vector even_b = d[4] - all(A2) * d[2], odd_b = all(B) * (d[3] - all(A2) * d[1]);
    to[0] = all(AT_0) * d[0] - all(A2 + B2) * d[2] + d[4];
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = all(AT_0) * d[1] - all(A2 + B2) * d[3] + d[5];
  }
};

// Every second term of a polynomial, from the one of x^K on, divided by x^K.
template <int N, int K>
Vector every_second_term(const Vector* g, float square) {
  if constexpr (K + 2 >= N) return g[K];
  else return g[K] + all(square) * every_second_term<N, K + 2>(g, square);
}

// The values of a polynomial that is given by N coefficients.
template <int N>
struct Values {
  static constexpr int given = N, made = REACH;
  static void of(const Vector* g, Vector* to) {
    const Vector even_a = every_second_term<N, 0>(g, A2), even_b = every_second_term<N, 0>(g, B2);
    const Vector odd_a = all(A) * every_second_term<N, 1>(g, A2);
    const Vector odd_b = all(B) * every_second_term<N, 1>(g, B2);
    to[0] = g[0];
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = g[N - 1];
  }
};

// The transpose of that.
template <int N>
struct Sums {
  static constexpr int given = REACH, made = N;
  static void of(const Vector* m, Vector* to) {
    const Vector even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const Vector even_b = m[3] + m[4], odd_b = m[3] - m[4];
    float a = 1, b = 1;
#pragma GCC unroll 5
    for (int n = 0; n < N; ++n, a *= A, b *= B) {
      to[n] = all(a) * (n % 2 ? odd_a : even_a) + all(b) * (n % 2 ? odd_b : even_b);
    }
    to[0] += m[0];
    to[N - 1] += m[5];
  }
};

// What interpolates pixels is divided by this, for each point.
inline void divide(const Vector* m, Vector* to) {
  constexpr float by[] = {1 / AT_0, 1 / AT_A, 1 / AT_A, 1 / AT_B, 1 / AT_B, 1};
#pragma GCC unroll 6
  for (int point = 0; point < REACH; ++point) to[point] = all(by[point]) * m[point];
}

template <int N>
struct FromTaps : Values<N> {
  static void of(const Vector* g, Vector* to) {
    Vector whole[REACH];
    Values<N>::of(g, whole);
    divide(whole, to);
  }
};

template <int N>
struct ToTaps : Sums<N> {
  static void of(const Vector* u, Vector* to) {
    Vector divided[REACH];
    divide(u, divided);
    Sums<N>::of(divided, to);
  }
};

// How many results a tile has along each axis.
constexpr int side_for(long window) { return REACH + 1 - window; }

template <int WINDOW>
using FromResults = Values<side_for(WINDOW)>;
template <int WINDOW>
using ToResults = Sums<side_for(WINDOW)>;

// Along both axes: read(i, j) gives what there is, and write(i, j, vector) gets what is made of it.
template <class Change, class Read, class Write>
inline void change(const Read& read, const Write& write) {
  Vector half[Change::made][Change::given], line[REACH];
#pragma GCC unroll 6
  for (int i = 0; i < Change::given; ++i) {
    Vector row[Change::given];
#pragma GCC unroll 6
    for (int j = 0; j < Change::given; ++j) row[j] = read(i, j);
    Change::of(row, line);
#pragma GCC unroll 6
    for (int j = 0; j < Change::made; ++j) half[j][i] = line[j];
  }
#pragma GCC unroll 6
  for (int j = 0; j < Change::made; ++j) {
    Change::of(half[j], line);
#pragma GCC unroll 6
    for (int i = 0; i < Change::made; ++i) write(i, j, line[i]);
  }
}

// A matrix at each point. Of a row, so many columns at a time lie together at all points.
template <int TOGETHER>
class Matrices {
 public:
  Matrices(long rows, long columns)
      : step_(over(columns, TOGETHER) * POINTS * TOGETHER + SPREAD), all_(rows * step_) {}

  float* at(long point, long r, long column) const {
    return all_.get() + r * step_ + (column / TOGETHER * POINTS + point) * TOGETHER +
           column % TOGETHER;
  }
  long step() const { return step_; }

 private:
  const long step_;
  const Scratch<float> all_;
};

// A matrix at each point, as panels.
class Panels {
 public:
  Panels(long rows, long columns)
      : rows_(rows), apart_(over(columns, PANEL) * PANEL * rows + SPREAD), all_(POINTS * apart_) {}

  float* at(long point, long r, long column) const {
    return all_.get() + point * apart_ + column / PANEL * PANEL * rows_ + r * PANEL +
           column % PANEL;
  }

 private:
  const long rows_, apart_;
  const Scratch<float> all_;
};

// Some pixels of an image, or of a result, as many along both axes.
struct Patch {
  float* at;  // the first pixel, maybe beyond the image
  long step, channels, side;
  long top, bottom, left, right;  // which are in the image

  bool has(long i, long j) const { return i >= top && i < bottom && j >= left && j < right; }
  float* pixel(long i, long j) const { return at + i * step + j * channels; }
  bool whole() const { return top + left == 0 && bottom == side && right == side; }

  // Itself, or where the image has not all of it a copy, with zeros for the rest.
  Patch read(float* room) const {
    if (whole()) return *this;
    const Patch copy{room, side * channels, channels, side, top, bottom, left, right};
    std::fill_n(room, side * side * channels, 0.f);
    for (long i = top; i < bottom; ++i) {
      std::copy_n(pixel(i, left), (right - left) * channels, copy.pixel(i, left));
    }
    return copy;
  }
};

class Tiles {
 public:
  explicit Tiles(const Windows& windows)
      : windows_(windows), side_(side_for(windows.rows.window)),
        down_(over(windows.rows.results, side_)), across_(over(windows.columns.results, side_)) {}

  long count() const { return windows_.images * down_ * across_; }
  long channels() const { return windows_.channels; }

  // What tile t sees of images, and what it is of results.
  Patch seen(long t, const float* images) const {
    const Axis &rows = windows_.rows, &columns = windows_.columns;
    return patch(t, const_cast<float*>(images), rows.image, columns.image, windows_.channels,
                 rows.before, columns.before, REACH);
  }
  Patch results(long t, float* results) const {
    return patch(t, results, windows_.rows.results, windows_.columns.results, windows_.outputs, 0,
                 0, side_);
  }

 private:
  Patch patch(long t, float* images, long height, long width, long channels, long above, long left,
              long side) const {
    const long y = t / across_ % down_ * side_ - above, x = t % across_ * side_ - left;
    const auto inside = [side](long at) { return std::clamp(at, 0L, side); };
    images += t / across_ / down_ * height * width * channels;
    return {images + (y * width + x) * channels, width * channels, channels, side,
            inside(-y), inside(height - y), inside(-x), inside(width - x)};
  }

  const Windows& windows_;
  const long side_, down_, across_;
};

// The values at all points of a patch, which `put(point, channel, vector)` keeps.
template <class Change, class Put>
void values_of(const Patch& patch, const Put& put) {
  const long whole = patch.channels / WIDTH * WIDTH;
  for (long c = 0; c < whole; c += WIDTH) {
    change<Change>([&](int i, int j) { return load(patch.pixel(i, j) + c); },
                   [&](int i, int j, Vector value) { put(i * REACH + j, c, value); });
  }
  if (whole == patch.channels) return;
  change<Change>(
      [&](int i, int j) {
        return load_part(patch.pixel(i, j) + whole, patch.channels - whole, 0);
      },
      [&](int i, int j, Vector value) { put(i * REACH + j, whole, value); });
}

// Pixels of tiles, a row for each.
template <class To>
void values_of_pixels(const Tiles& tiles, long first, long count, const float* x, const To& to) {
  const Scratch<float> room(POINTS * tiles.channels());
  for (long t = 0; t < count; ++t) {
    const Patch patch = tiles.seen(first + t, x).read(room.get());
    values_of<FromPixels>(patch, [&](int point, long c, Vector value) {
      store(to.at(point, t, c), value);
    });
  }
}

// Filters, a row for each of their channels, with zeros for what vectors of channels lack.
template <int WINDOW>
Work values_of_filters(long channels, long outputs, const float* w, bool turned,
                       const Panels& to) {
  constexpr long SOME = 64, TAPS = WINDOW * WINDOW;
  const long panels = over(outputs, PANEL), parts = over(channels, SOME);
  return {panels * parts, [=, &to](long task) {
    const long first = task / panels * SOME, column = task % panels * PANEL;
    const long rows = std::min(SOME, channels - first), wide = std::min<long>(PANEL, outputs - column);
    const Scratch<float> copy(TAPS * SOME * PANEL);
    std::fill_n(copy.get(), TAPS * SOME * PANEL, 0.f);
    for (long tap = 0; tap < TAPS; ++tap) {
      float* panel = copy.get() + tap * SOME * PANEL;
      if (turned) {
        const float* from = w + ((TAPS - 1 - tap) * outputs + column) * channels + first;
        pack_turned(from, rows, wide, channels, panel);
      } else {
        pack(w + (tap * channels + first) * outputs + column, rows, wide, outputs, panel);
      }
    }
    for (long r = 0; r < over(rows, WIDTH) * WIDTH; ++r) {
      for (long n = 0; n < PANEL; n += WIDTH) {
        const float* from = copy.get() + r * PANEL + n;
        change<FromTaps<WINDOW>>(
            [&](int i, int j) { return load(from + (i * WINDOW + j) * SOME * PANEL); },
            [&](int i, int j, Vector value) {
              store(to.at(i * REACH + j, first + r, column) + n, value);
            });
      }
    }
  }};
}

// Calls work(first, count) for `rows` rows of results, as many at once as registers have room for.
template <class Work>
inline void each_tile(long rows, const Work& work) {
  const long count = over(rows, ROWS);
  for (long t = 0; t < count; ++t) {
    const long first = t * rows / count;
    work(first, (t + 1) * rows / count - first);
  }
}

// How many columns of a panel are computed.
int wide(long columns) { return columns > WIDTH ? PANEL : WIDTH; }

// How many tiles a thread has at once: few, for them to stay near, unless there are many filters,
// which are read again each time.
long at_once(const Windows& windows) {
  return std::clamp(windows.channels * windows.outputs / 256, long{ROWS}, 128L);
}

template <int WINDOW>
void results_of_tiles(const Call& call, const Windows& windows, const float* x, const float* w,
                      bool turned, float* y) {
  const Tiles tiles(windows);
  const long o = windows.outputs, vectors = over(windows.channels, WIDTH);
  const Panels filters(vectors * WIDTH, o);
  const long chunks =
      std::max(over(tiles.count(), at_once(windows)), std::min(tiles.count(), call.threads()));
  const auto results_of = [&](long chunk) {
    const long first = chunk * tiles.count() / chunks;
    const long count = (chunk + 1) * tiles.count() / chunks - first;
    const Matrices<WIDTH> pixels(count, windows.channels);
    values_of_pixels(tiles, first, count, x, pixels);
    const Matrices<PANEL> results(count, PANEL);
    for (long p = 0; p < o; p += PANEL) {
      const int columns = wide(o - p);
      for (int point = 0; point < POINTS; ++point) {
        each_tile(count, [&](long t, long some) {
          tile_for(some, columns)(pixels.at(point, t, 0), {pixels.step(), POINTS * WIDTH, 1},
                                  filters.at(point, 0, p), {0, WIDTH * PANEL, PANEL},
                                  {vectors, WIDTH}, results.at(point, t, 0), results.step(),
                                  columns, false);
        });
      }
      for (long t = 0; t < count; ++t) {
        const Patch patch = tiles.results(first + t, y);
        for (long n = 0; n < columns && p + n < o; n += WIDTH) {
          change<ToResults<WINDOW>>(
              [&](int i, int j) { return load(results.at(i * REACH + j, t, n)); },
              [&](int i, int j, Vector value) {
                if (patch.has(i, j)) store_part(patch.pixel(i, j) + p + n, o - p - n, value);
              });
        }
      }
    }
  };
  call.in_turn({values_of_filters<WINDOW>(windows.channels, o, w, turned, filters),
                {chunks, results_of}});
}

// Each thread adds up the products of its part of the tiles; then the parts are added.
template <int WINDOW>
void filters_of_tiles(const Call& call, const Windows& windows, const float* x,
                      const float* gradient, float* w) {
  const Tiles tiles(windows);
  const long c = windows.channels, o = windows.outputs;
  const long parts = std::clamp(
      ROOM / (POINTS * c * o), 1L, std::min({tiles.count(), call.threads(), long{MOST_PARTS}}));
  std::unique_ptr<const Panels> sums[MOST_PARTS];
  const auto sum_of = [&](long part) {
    const long begin = part * tiles.count() / parts, end = (part + 1) * tiles.count() / parts;
    const long chunks = over(end - begin, MANY);
    sums[part] = std::make_unique<const Panels>(c, o);
    const Panels& sum = *sums[part];
    const Scratch<float> room(side_for(WINDOW) * side_for(WINDOW) * o);
    for (long chunk = 0; chunk < chunks; ++chunk) {
      const long first = begin + chunk * (end - begin) / chunks;
      const long count = begin + (chunk + 1) * (end - begin) / chunks - first;
      const Panels pixels(count, c), changes(count, o);
      values_of_pixels(tiles, first, count, x, pixels);
      for (long t = 0; t < count; ++t) {
        const Patch patch = tiles.results(first + t, const_cast<float*>(gradient)).read(room.get());
        values_of<FromResults<WINDOW>>(patch, [&](int point, long n, Vector value) {
          store(changes.at(point, t, n), value);
        });
      }
      for (int point = 0; point < POINTS; ++point) {
        for (long p = 0; p < o; p += PANEL) {
          const int columns = wide(o - p);
          for (long r = 0; r < c; r += PANEL) {
            each_tile(std::min<long>(PANEL, c - r), [&](long within, long some) {
              tile_for(some, columns)(pixels.at(point, 0, r + within), {1, 0, PANEL},
                                      changes.at(point, 0, p), {0, 0, PANEL}, {1, count},
                                      sum.at(point, r + within, p), PANEL, columns, chunk > 0);
            });
          }
        }
      }
    }
  };
  const auto taps_of = [&](long r) {
    for (long n = 0; n < o; n += WIDTH) {
      change<ToTaps<WINDOW>>(
          [&](int i, int j) {
            Vector total = load(sums[0]->at(i * REACH + j, r, n));
            for (long part = 1; part < parts; ++part) {
              total += load(sums[part]->at(i * REACH + j, r, n));
            }
            return total;
          },
          [&](int i, int j, Vector value) {
            store_part(w + ((i * WINDOW + j) * c + r) * o + n, o - n, value);
          });
    }
  };
  call.in_turn({{parts, sum_of}, {c, taps_of}});
}

}  // namespace

bool suits_winograd(const Windows& windows) {
  const long window = windows.rows.window;
  const auto plain = [window](const Axis& axis) {
    return axis.window == window && axis.stride == 1 && axis.dilation == 1 &&
           axis.results >= side_for(window);
  };
  const long c = windows.channels, o = windows.outputs, tiles = Tiles(windows).count();
  // Nor should it be mostly filters that are changed.
  return (window == 3 || window == 5) && plain(windows.rows) && plain(windows.columns) &&
         std::min(c, o) >= FEWEST && 4 * tiles >= std::min(c, o) && POINTS * c * o <= ROOM;
}

void convolve_tiles(const Call& call, const Windows& windows, const float* x, const float* w,
                    bool turned, float* y) {
  const auto compute = windows.rows.window == 3 ? results_of_tiles<3> : results_of_tiles<5>;
  compute(call, windows, x, w, turned, y);
}

void convolve_filter_tiles(const Call& call, const Windows& windows, const float* x,
                           const float* gradient, float* w) {
  const auto compute = windows.rows.window == 3 ? filters_of_tiles<3> : filters_of_tiles<5>;
  compute(call, windows, x, gradient, w);
}

}  // namespace weft
