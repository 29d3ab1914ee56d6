// Pools of images [n, h, w, c]: the largest numbers of windows, their means, and the gradients.
//
// Windows are cut off at the borders of images. Sums go in the order of the taps, as they do in
// weft/ops/nn/pool_windows.py, so that the results are the same to the last bit.
#include <cmath>

#include "kernels.h"
#include "windows.h"

namespace weft {
namespace {

typedef int32_t Numbers __attribute__((vector_size(4 * WIDTH)));
typedef int32_t UnalignedNumbers __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

Numbers numbers_at(const int32_t* from) {
  return *reinterpret_cast<const UnalignedNumbers*>(from);
}
void put(int32_t* to, Numbers value) { *reinterpret_cast<UnalignedNumbers*>(to) = value; }
Numbers all_of(int32_t value) { return value - Numbers{}; }

// What a window sees of an image: so many rows and columns of pixels.
struct View {
  const float* first;
  long rows, columns, row_step, step;
};

View view(const Windows& windows, const float* image, const Reach& v, const Reach& u) {
  const long c = windows.channels, wide = windows.columns.image;
  return {image + (v.position * wide + u.position) * c, v.count, u.count, wide * c, c};
}

// Calls use(n, value, row, column) for N registers of each pixel in sight, from channel `at` on.
template <int N, class Use>
inline void look(const View& seen, long at, const Use& use) {
  for (long i = 0; i < seen.rows; ++i) {
    const float* pixel = seen.first + i * seen.row_step + at;
    for (long j = 0; j < seen.columns; ++j, pixel += seen.step) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) use(n, load(pixel + n * WIDTH), i, j);
    }
  }
}

// The largest numbers. A NaN is larger than everything, and 0 than -0.
template <int N>
void largest(const View& seen, long at, float* to) {
  Vector best[N];
  Numbers signs[N];
  for (int n = 0; n < N; ++n) {
    best[n] = all(-INFINITY);
    signs[n] = all_of(INT32_MIN);
  }
  look<N>(seen, at, [&](int n, Vector value, long, long) {
    best[n] = (value > best[n]) | (value != value) ? value : best[n];
    signs[n] &= (Numbers)value;  // the same bits
  });
  for (int n = 0; n < N; ++n) {
    store(to + at + n * WIDTH, best[n] == 0 ? (Vector)signs[n] : best[n]);
  }
}

// The numbers of the first taps that hold the largest. `number` is that of the first tap in sight,
// which keeps it where it is a NaN; other NaNs are passed over.
template <int N>
void first_largest(const View& seen, long at, int32_t number, int32_t window_w, int32_t* to) {
  Vector best[N];
  Numbers where[N];
  for (int n = 0; n < N; ++n) {
    best[n] = load(seen.first + at + n * WIDTH);
    where[n] = all_of(number);
  }
  look<N>(seen, at, [&](int n, Vector value, long i, long j) {
    const Numbers better = value > best[n];
    best[n] = better ? value : best[n];
    where[n] = better ? all_of(number + i * window_w + j) : where[n];
  });
  for (int n = 0; n < N; ++n) put(to + at + n * WIDTH, where[n]);
}

template <int N>
void mean(const View& seen, long at, float* to) {
  const Vector share = all(1.f / (seen.rows * seen.columns));
  Vector sum[N] = {};
  look<N>(seen, at, [&](int n, Vector value, long, long) { sum[n] += value; });
  for (int n = 0; n < N; ++n) store(to + at + n * WIDTH, sum[n] * share);
}

// Calls work(where its results begin, what it sees) for every window.
template <class Work>
void each_window(const Call& call, const Windows& windows, const float* x, const Work& work) {
  const Axis &rows = windows.rows, &columns = windows.columns;
  const long c = windows.channels, image = rows.image * columns.image * c;
  const Reaches seen(columns.results, [&](long i) { return columns.seen_by(i); });
  share_rows(call, windows.images, rows.results, 1, columns.image * c,
             [&](long n, long from, long until) {
    for (long row = from; row < until; ++row) {
      const Reach v = rows.seen_by(row);
      for (long column = 0; column < columns.results; ++column) {
        work(((n * rows.results + row) * columns.results + column) * c,
             view(windows, x + n * image, v, seen[column]));
      }
    }
  });
}

// The windows that see a pixel: so many rows and columns of them, at most one for each tap.
struct Seers {
  long rows, columns, row_step, step;
  int32_t tap, tap_rows, tap_columns;
};

// The sums, in N registers, of term(note, g, tap) over the windows. The notes on the first of them
// start at `notes` and its gradients at g.
template <int N, class Note, class Term>
void add_up(const Seers& seers, const Note* notes, const float* g, Vector zero, const Term& term,
            float* to) {
  Vector sum[N];
  for (int n = 0; n < N; ++n) sum[n] = zero;
  for (long i = 0; i < seers.rows; ++i) {
    const Note* note = notes - i * seers.row_step;
    const float* gradient = g - i * seers.row_step;
    int32_t tap = seers.tap + i * seers.tap_rows;
    for (long j = 0; j < seers.columns; ++j, tap += seers.tap_columns) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) sum[n] += term(note + n * WIDTH, gradient + n * WIDTH, tap);
      note -= seers.step;
      gradient -= seers.step;
    }
  }
  for (int n = 0; n < N; ++n) store(to + n * WIDTH, sum[n]);
}

// For a row of an image what `add_up` makes of the windows that see it. The notes and gradients of
// their rows start with those of row `first`.
template <class Note, class Term>
void pass_back_to(const Windows& windows, long row, const Reaches& seeing, long first,
                  const Note* notes, const float* g, const Term& term, float* to) {
  const Axis &rows = windows.rows, &columns = windows.columns;
  const long c = windows.channels, line = columns.results * c;
  const Reach v = rows.seeing(row);
  Seers seers{v.count, 0, line, c, 0, static_cast<int32_t>(rows.stride * columns.window),
              static_cast<int32_t>(columns.stride)};
  for (long column = 0; column < columns.image; ++column, to += c) {
    const Reach& u = seeing[column];
    seers.columns = u.count;
    seers.tap = v.tap * columns.window + u.tap;
    const long start = (v.position - first) * line + u.position * c;
    // The zeros that stand for windows beyond the border make 0 of -0.
    const Vector zero = all(v.all && u.all ? -0.f : 0.f);
    each_vectors(c, [&](long at, auto count) {
      add_up<count.value>(seers, notes + start + at, g + start + at, zero, term, to + at);
    });
  }
}

// For all images what `add_up` makes of the windows that see a number. First
// prepare(image, rows and columns that it sees, g, notes) takes the notes on each window.
template <class Note, class Prepare, class Term>
void pass_back(const Call& call, const Windows& windows, const float* gradient, float* dx,
               const Prepare& prepare, const Term& term) {
  const Axis &rows = windows.rows, &columns = windows.columns;
  const long c = windows.channels, line = columns.results * c, wide = columns.image * c;
  const Reaches seen_by(columns.results, [&](long i) { return columns.seen_by(i); });
  const Reaches seeing(columns.image, [&](long i) { return columns.seeing(i); });
  share_rows(call, windows.images, rows.image, 4 * rows.window, wide,
             [&](long n, long from, long until) {
    const long first = rows.first_seeing(from), end = rows.first_behind(until - 1);
    const float* g = gradient + (n * rows.results + first) * line;
    const Scratch<Note> notes(std::max(0L, end - first) * line);
    for (long row = first; row < end; ++row) {
      const Reach v = rows.seen_by(row);
      for (long column = 0; column < columns.results; ++column) {
        const long at = (row - first) * line + column * c;
        prepare(n, v, seen_by[column], g + at, notes.get() + at);
      }
    }
    for (long row = from; row < until; ++row) {
      pass_back_to(windows, row, seeing, first, notes.get(), g, term,
                   dx + (n * rows.image + row) * wide);
    }
  });
}

}  // namespace

void max_pool(const Call& call) {
  const Windows windows(call.sizes());
  float* y = call.out(0);
  each_window(call, windows, call.in(0), [&](long result, const View& seen) {
    each_vectors(windows.channels,
                 [&](long at, auto count) { largest<count.value>(seen, at, y + result); });
  });
}

void max_pool_gradient(const Call& call) {
  const Windows windows(call.sizes());
  const float* x = call.in(0);
  const long window_w = windows.columns.window;
  const long image = windows.rows.image * windows.columns.image * windows.channels;
  pass_back<int32_t>(
      call, windows, call.in(1), call.out(0),
      [&](long n, const Reach& v, const Reach& u, const float*, int32_t* taps) {
        const View seen = view(windows, x + n * image, v, u);
        const int32_t first = v.tap * window_w + u.tap;
        each_vectors(windows.channels, [&](long at, auto count) {
          first_largest<count.value>(seen, at, first, window_w, taps);
        });
      },
      [](const int32_t* taps, const float* g, int32_t tap) {
        return numbers_at(taps) == all_of(tap) ? load(g) : Vector{};
      });
}

void average_pool(const Call& call) {
  const Windows windows(call.sizes());
  float* y = call.out(0);
  each_window(call, windows, call.in(0), [&](long result, const View& seen) {
    each_vectors(windows.channels,
                 [&](long at, auto count) { mean<count.value>(seen, at, y + result); });
  });
}

void average_pool_gradient(const Call& call) {
  const Windows windows(call.sizes());
  pass_back<float>(
      call, windows, call.in(0), call.out(0),
      [&](long, const Reach& v, const Reach& u, const float* g, float* shares) {
        const Vector share = all(1.f / (v.count * u.count));
        each_vector(windows.channels, [&](long at) { store(shares + at, load(g + at) * share); });
      },
      [](const float* share, const float*, int32_t) { return load(share); });
}

}  // namespace weft
