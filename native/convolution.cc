// Convolutions of images [n, h, w, c] with filters [kh, kw, c, o], and both their gradients.
//
// Nothing is copied into patches: a row of a window, kw * c numbers, lies in one piece, and so do
// the numbers that a filter's row is multiplied with. Where windows leave the image, each tap is
// computed for the windows that see it; for the gradient of the filters, images get their border as
// they are read, some rows at a time.
#include <algorithm>

#include "kernels.h"
#include "product.h"
#include "windows.h"
#include "winograd.h"

namespace weft {
namespace {

constexpr long CACHED = 100'000;  // numbers of an image that a core should keep near
constexpr long ROOM = 1 << 25;    // numbers that all sums of threads may take
constexpr long PARTS = 8;         // of its work that each thread gets

struct Size {
  long n, h, w, c;
  long numbers() const { return n * h * w * c; }
};

// Windows that slide over images, and where their results go.
struct Slide {
  Size image;
  long rows, columns, outputs;     // positions of windows, and results at each
  long window_h, window_w;         // taps of a window
  long stride_h, stride_w, dilation_h, dilation_w;
  long first_h, first_w;           // where the first window begins, beyond the image if negative
  long image_step, row_step, pixel_step;  // of the results
  bool separate = false;           // one row of pixels that have nothing to do with each other

  long sums() const { return window_h * window_w * image.c; }
  long reach_h() const { return (window_h - 1) * dilation_h + 1; }
  long reach_w() const { return (window_w - 1) * dilation_w + 1; }
  // Columns of the image that a row of windows sees.
  long width() const { return (columns - 1) * stride_w + reach_w(); }
  // How many neighbouring windows may be computed at once, for each of them to have `beside`
  // numbers that should stay near, and for every thread to get some.
  long columns_at_once(long beside, long threads) const {
    if (!separate) return columns;
    return std::clamp(std::min(over(columns, PARTS * threads), CACHED / beside), 1L, columns);
  }
};

// `count` rows of an image from `first` on, each as wide as the windows see, zero beyond the image.
class Rows {
 public:
  Rows(const Slide& slide, long most)
      : slide_(slide), width_(slide.width()), whole_(slide.first_w == 0 && width_ == slide.image.w),
        copy_(most * width_ * slide.image.c) {}

  const float* of(const float* image, long first, long count) const {
    const Size& size = slide_.image;
    if (whole_ && first >= 0 && first + count <= size.h) return image + first * size.w * size.c;
    const long left = std::min(std::max(0L, -slide_.first_w), width_);
    const long right = std::max(left, std::min(width_, size.w - slide_.first_w));
    float* to = copy_.get();
    for (long y = first; y < first + count; ++y) {
      const bool inside = y >= 0 && y < size.h;
      const long from = inside ? left : width_, until = inside ? right : width_;
      std::fill_n(to, from * size.c, 0.f);
      std::copy_n(image + (y * size.w + slide_.first_w + from) * size.c, (until - from) * size.c,
                  to + from * size.c);
      std::fill_n(to + until * size.c, (width_ - until) * size.c, 0.f);
      to += width_ * size.c;
    }
    return copy_.get();
  }

 private:
  const Slide& slide_;
  const long width_;
  const bool whole_;
  Scratch<float> copy_;
};

// What lies under the windows as a matrix: a row for each window, a column for each of its numbers.
class Patches {
 public:
  Patches(const Slide& slide, const float* image) : slide_(slide), image_(image) {}

  void copy(Left& to) const {
    const Part& part = to.part();
    for (long r = 0; r < part.rows; ++r) {
      copy_row(part.row + r, part.column, part.columns, to.row(r));
    }
  }

  // As `copy`, of the transposed matrix.
  void copy_turned(Left& to) const {
    const Part& part = to.part();
    const Scratch<float> patch(part.rows);
    for (long k = 0; k < part.columns; ++k) {
      copy_row(part.column + k, part.row, part.rows, patch.get());
      to.put_column(k, patch.get());
    }
  }

 private:
  // Some numbers of a row, in pieces, each of neighbouring channels under one tap.
  void copy_row(long r, long first, long length, float* to) const {
    const Size& size = slide_.image;
    const long x = r % slide_.columns, y = r / slide_.columns % slide_.rows;
    const float* image = image_ + r / slide_.columns / slide_.rows * size.h * size.w * size.c;
    for (long k = first, count; k < first + length; k += count, to += count) {
      const long tap = k / size.c, channel = k % size.c;
      count = std::min(size.c - channel, first + length - k);
      const long v = y * slide_.stride_h + slide_.first_h + tap / slide_.window_w * slide_.dilation_h;
      const long u = x * slide_.stride_w + slide_.first_w + tap % slide_.window_w * slide_.dilation_w;
      if (v >= 0 && v < size.h && u >= 0 && u < size.w) {
        std::copy_n(image + (v * size.w + u) * size.c + channel, count, to);
      } else {
        std::fill_n(to, count, 0.f);
      }
    }
  }

  const Slide& slide_;
  const float* image_;
};

constexpr long NARROW = 14;  // neighbouring windows that are too few to be computed at once

// Whether there are more filters than images, which are small: then filters are best read once, and
// patches copied.
bool has_many_filters(const Slide& slide) {
  return slide.columns < NARROW && slide.sums() * slide.outputs > slide.image.numbers();
}

// Some neighbouring taps, and the neighbouring windows that all see them.
struct Seen {
  long tap, taps, from, until;
};

// Neighbouring windows, and what of the image they see: first the taps that all of them see, if
// there are some, then each of the others.
struct Neighbours {
  long from, until;
  std::vector<Seen> seen;

  bool share_taps() const {
    return !seen.empty() && seen[0].until - seen[0].from == until - from;
  }
};

Neighbours neighbours(const Axis& axis, long from, long until) {
  const Reach first = axis.seen_by(from), last = axis.seen_by(until - 1);
  const long begin = first.tap, end = std::max(begin, last.tap + last.count);
  const long most = axis.dilation == 1 ? end - begin : 1;  // in one piece
  const long behind = std::min(axis.window, begin + first.count);
  // The first window whose tap is at or behind a pixel.
  const auto window_at = [&](long pixel, long tap) {
    return over(pixel + axis.before - tap * axis.dilation, axis.stride);
  };
  Neighbours made{from, until, {}};
  for (long tap = begin; tap < end; tap += most) made.seen.push_back({tap, most, from, until});
  for (long tap = last.tap; tap < behind; ++tap) {
    const long left = std::max(from, window_at(0, tap));
    const long right = std::min(until, window_at(axis.image, tap));
    if ((tap < begin || tap >= end) && left < right) made.seen.push_back({tap, 1, left, right});
  }
  return made;
}

// `count` of something, cut into `parts`.
struct Cut {
  long count, parts;
  long begin(long part) const { return part * count / parts; }
  long end(long part) const { return begin(part + 1); }
};

// How rows of windows are cut: into few at once, so that what they see stays near the core, and into
// as many parts for each thread.
Cut rows_at_once(const Slide& slide, long threads) {
  const Size& image = slide.image;
  const long fitting = CACHED / (slide.stride_h * slide.width() * image.c);
  const long even = over(image.n * slide.rows, PARTS * threads);
  const long parts = over(slide.rows, std::clamp(std::min(even, fitting), 1L, slide.rows));
  const bool uneven = image.n % threads != 0;
  return {slide.rows, std::min(slide.rows, uneven ? over(parts, threads) * threads : parts)};
}

// y = x windows times filters in panels.
Work slide_over(long threads, const Slide& slide, const float* x, const float* panels, float* y) {
  const Size& image = slide.image;
  const long count = over(slide.outputs, PANEL), sums = slide.sums();
  Cut rows = rows_at_once(slide, threads);
  Cut groups{count, 1};  // of panels
  if (slide.outputs * sums > image.numbers() && count >= threads) {
    rows.parts = 1;  // reading the filters once matters more
    groups.parts = count;
  }
  const long columns = over(slide.columns_at_once(image.c, threads), ROWS) * ROWS;
  const long across = over(slide.columns, columns), chunks = rows.parts * across;
  // Panels that stay near the core while it goes through all rows.
  const long together = std::max(1L, CACHED / (sums * PANEL));
  const Axis down{image.h, slide.rows, slide.window_h, slide.stride_h, slide.dilation_h,
                  -slide.first_h};
  const Axis along{image.w, slide.columns, slide.window_w, slide.stride_w, slide.dilation_w,
                   -slide.first_w};
  const Steps of_x{slide.stride_w * image.c, slide.dilation_h * image.w * image.c, 1};
  const Steps of_w{0, slide.window_w * image.c * PANEL, PANEL};
  const auto compute = [=](long n, long row, const Reach& taps, const Neighbours& windows,
                           long panel) {
    const long c = slide.image.c, line = n * slide.image.h + taps.position;
    const int wide = std::min<long>(PANEL, slide.outputs - panel * PANEL);
    float* to = y + n * slide.image_step + row * slide.row_step + panel * PANEL;
    bool add = !windows.share_taps();
    for (long i = windows.from; add && i < windows.until; ++i) {
      std::fill_n(to + i * slide.pixel_step, wide, 0.f);
    }
    for (const Seen& seen : windows.seen) {
      const long pixel = line * slide.image.w + seen.from * slide.stride_w + slide.first_w +
                         seen.tap * slide.dilation_w;
      const long first = panel * sums + (taps.tap * slide.window_w + seen.tap) * c;
      tile_for(seen.until - seen.from, wide)(
          x + pixel * c, of_x, panels + first * PANEL, of_w, {taps.count, seen.taps * c},
          to + seen.from * slide.pixel_step, slide.pixel_step, wide, add);
      add = true;
    }
  };
  return {image.n * chunks * groups.parts, [=](long task) {
    const long group = task % groups.parts, chunk = task / groups.parts % chunks;
    const long n = task / groups.parts / chunks, start = chunk % across * columns;
    const Cut tiles{std::min(slide.columns - start, columns),
                    over(std::min(slide.columns - start, columns), ROWS)};
    std::vector<Neighbours> row_of_windows;
    for (long t = 0; t < tiles.parts; ++t) {
      row_of_windows.push_back(neighbours(along, start + tiles.begin(t), start + tiles.end(t)));
    }
    const long last = groups.end(group);
    for (long p = groups.begin(group); p < last; p += together) {
      const long until = std::min(last, p + together);
      for (long row = rows.begin(chunk / across); row < rows.end(chunk / across); ++row) {
        const Reach taps = down.seen_by(row);
        for (const Neighbours& windows : row_of_windows) {
          for (long q = p; q < until; ++q) compute(n, row, taps, windows, q);
        }
      }
    }
  }};
}

// The sizes of a convolution as they come with a call.
struct Sizes {
  Size image, result;
  long window_h, window_w, stride_h, stride_w, dilation_h, dilation_w, top, left;

  explicit Sizes(const int64_t* s)
      : image{s[0], s[1], s[2], s[3]}, result{s[0], s[4], s[5], s[6]}, window_h(s[7]),
        window_w(s[8]), stride_h(s[9]), stride_w(s[10]), dilation_h(s[11]), dilation_w(s[12]),
        top(s[13]), left(s[14]) {}

  Slide slide() const {
    Slide made{image, result.h, result.w, result.c, window_h, window_w, stride_h, stride_w,
               dilation_h, dilation_w, -top, -left,
               result.h * result.w * result.c, result.w * result.c, result.c};
    if (window_h * window_w * stride_h * stride_w == 1 && top == 0 && left == 0 &&
        result.h == image.h && result.w == image.w) {
      made.columns = image.n * image.h * image.w;
      made.image = {1, 1, made.columns, image.c};
      made.rows = 1;
      made.separate = true;
    }
    return made;
  }
};

// Along one axis: for the positions of an image that are `phase` beyond a multiple of the stride,
// which taps reach them, and the first of those positions.
struct Phase {
  long tap, taps, first, positions, start;

  Phase(long phase, long window, long stride, long dilation, long before, long length) {
    tap = phase;
    taps = stride == 1 ? window : std::max(0L, over(window - phase, stride));
    // position = phase - before + stride * q, and q - i is the result whose tap i meets it
    const long q = std::max(0L, over(before - phase, stride));
    first = phase - before + stride * q;
    positions = first < length ? over(length - first, stride) : 0;
    start = q - (taps - 1) * dilation;
  }
};

// The windows that slide over a gradient to the positions of a phase, along both axes.
Slide back(const Sizes& sizes, const Phase& v, const Phase& u) {
  const Size& image = sizes.image;
  return {sizes.result, v.positions, u.positions, image.c, v.taps, u.taps, 1, 1,
          sizes.dilation_h, sizes.dilation_w, v.start, u.start,
          image.h * image.w * image.c, sizes.stride_h * image.w * image.c,
          sizes.stride_w * image.c};
}

// x = patches of the gradient times the filters turned around, where strides are 1.
void convolve_back(const Call& call, const Slide& slide, const float* gradient, const float* w,
                   float* x) {
  const Patches patches(slide, gradient);
  const long c = slide.outputs, o = slide.image.c, taps = slide.window_h * slide.window_w;
  multiply(
      call, 1, slide.image.n * slide.rows * slide.columns, slide.sums(), c,
      [&](long, Left& to) { patches.copy(to); },
      [&](long, const Part& part, float* to) {
        const long end = part.row + part.rows;
        for (long p = 0; p < part.columns; p += PANEL) {
          const long wide = std::min<long>(PANEL, part.columns - p);
          for (long k = part.row, some; k < end; k += some, to += some * PANEL) {
            some = std::min(o - k % o, end - k);
            pack_turned(w + ((taps - 1 - k / o) * c + part.column + p) * o + k % o, some, wide, o,
                        to);
          }
        }
      },
      x);
}

}  // namespace

void convolve(const Call& call) {
  const Sizes sizes(call.sizes());
  const Slide slide = sizes.slide();
  const long count = over(slide.outputs, PANEL), sums = slide.sums();
  const float *x = call.in(0), *w = call.in(1);
  const Windows windows(call.sizes());
  if (suits_winograd(windows)) return convolve_tiles(call, windows, x, w, false, call.out(0));
  if (has_many_filters(slide)) {
    const Patches patches(slide, x);
    multiply(
        call, 1, slide.image.n * slide.rows * slide.columns, sums, slide.outputs,
        [&](long, Left& to) { patches.copy(to); },
        [&](long, const Part& part, float* to) { panels_of({w, slide.outputs, 1}, part, to); },
        call.out(0));
    return;
  }
  const Scratch<float> panels(count * sums * PANEL);
  const auto copy = [&](long p) {
    pack(w + p * PANEL, sums, std::min<long>(PANEL, slide.outputs - p * PANEL), slide.outputs,
         panels.get() + p * sums * PANEL);
  };
  call.in_turn({{count, copy},
                slide_over(call.threads(), slide, x, panels.get(), call.out(0))});
}

// For every phase of the strides a convolution of the gradient with the taps that reach it.
void convolve_input(const Call& call) {
  const Sizes sizes(call.sizes());
  const Size &image = sizes.image, &g = sizes.result;
  const float *w = call.in(0), *gradient = call.in(1);
  float* x = call.out(0);
  const Windows back_windows = Windows(call.sizes()).back();
  if (suits_winograd(back_windows)) return convolve_tiles(call, back_windows, gradient, w, true, x);
  const long count = over(image.c, PANEL), taps = sizes.window_h * sizes.window_w;
  if (sizes.stride_h * sizes.stride_w == 1) {
    const Phase v(0, sizes.window_h, 1, sizes.dilation_h, sizes.top, image.h);
    const Phase u(0, sizes.window_w, 1, sizes.dilation_w, sizes.left, image.w);
    const Slide slide = back(sizes, v, u);
    if (has_many_filters(slide)) return convolve_back(call, slide, gradient, w, x);
  }
  const Scratch<float> panels(count * taps * g.c * PANEL);
  float* room = panels.get();
  std::vector<Work> copies, products;
  for (long phase_h = 0; phase_h < sizes.stride_h; ++phase_h) {
    const Phase v(phase_h, sizes.window_h, sizes.stride_h, sizes.dilation_h, sizes.top, image.h);
    for (long phase_w = 0; phase_w < sizes.stride_w; ++phase_w) {
      const Phase u(phase_w, sizes.window_w, sizes.stride_w, sizes.dilation_w, sizes.left, image.w);
      if (v.positions == 0 || u.positions == 0) continue;
      float* first = x + (v.first * image.w + u.first) * image.c;
      if (v.taps == 0 || u.taps == 0) {
        for (long n = 0; n < image.n; ++n) {
          for (long i = 0; i < v.positions; ++i) {
            float* row = first + (n * image.h + i * sizes.stride_h) * image.w * image.c;
            for (long j = 0; j < u.positions; ++j, row += sizes.stride_w * image.c) {
              std::fill_n(row, image.c, 0.f);
            }
          }
        }
        continue;
      }
      const Slide slide = back(sizes, v, u);
      const long apart = slide.sums() * PANEL;
      copies.push_back({count, [=, &sizes](long p) {
        float* to = room + p * apart;
        for (long i = v.taps - 1; i >= 0; --i) {
          for (long j = u.taps - 1; j >= 0; --j, to += sizes.result.c * PANEL) {
            const long row = v.tap + i * sizes.stride_h, column = u.tap + j * sizes.stride_w;
            const long c = sizes.image.c, outputs = sizes.result.c;
            pack_turned(w + ((row * sizes.window_w + column) * c + p * PANEL) * outputs, outputs,
                        std::min<long>(PANEL, c - p * PANEL), outputs, to);
          }
        }
      }});
      products.push_back(slide_over(call.threads(), slide, gradient, room, first));
      room += count * apart;
    }
  }
  call.in_turn({joined(std::move(copies)), joined(std::move(products))});
}

// Each thread adds up the products of its part of the images; then the parts are added.
void convolve_filter(const Call& call) {
  const Sizes sizes(call.sizes());
  const Slide slide = sizes.slide();
  const Size& image = slide.image;
  const float *x = call.in(0), *gradient = call.in(1);
  const long outputs = slide.outputs, count = over(outputs, PANEL), width = slide.width();
  const long filters = slide.sums() * outputs;
  const Windows windows(call.sizes());
  if (suits_winograd(windows)) return convolve_filter_tiles(call, windows, x, gradient, call.out(0));
  if (has_many_filters(slide)) {
    const Patches patches(slide, x);
    multiply(
        call, 1, slide.sums(), image.n * slide.rows * slide.columns, outputs,
        [&](long, Left& to) { patches.copy_turned(to); },
        [&](long, const Part& part, float* to) { panels_of({gradient, outputs, 1}, part, to); },
        call.out(0));
    return;
  }
  // Work is cut the same way each time, so that sums are too.
  const long fitting = CACHED / std::max(slide.stride_h * width * image.c, slide.columns * outputs);
  const long columns = slide.columns_at_once(std::max(image.c, outputs), call.threads());
  const long even = over(image.n * slide.rows, call.threads());
  const long rows = std::clamp(std::min(fitting, even), 1L, slide.rows);
  const long across = over(slide.columns, columns), chunks = over(slide.rows, rows) * across;
  const long pieces = image.n * chunks;
  const long parts = std::clamp(ROOM / filters, 1L, std::min(pieces, call.threads()));
  const Scratch<float> more((parts - 1) * filters);
  const bool dense = slide.dilation_w == 1;
  const long passes = dense ? 1 : slide.window_w;
  const long inner = dense ? slide.window_w * image.c : image.c, tiles = over(inner, ROWS);
  const auto sum_of = [&](long part) {
    float* total = part == 0 ? call.out(0) : more.get() + (part - 1) * filters;
    std::fill_n(total, filters, 0.f);
    const Rows cut(slide, slide.separate ? 0 : (rows - 1) * slide.stride_h + slide.reach_h());
    const Scratch<float> panels(count * rows * columns * PANEL);
    for (long piece = part * pieces / parts; piece < (part + 1) * pieces / parts; ++piece) {
      const long n = piece / chunks, from = piece % chunks / across * rows;
      const long left = piece % across * columns, right = std::min(slide.columns, left + columns);
      const long many = std::min(slide.rows - from, rows), wide = right - left;
      const float* seen = x + n * image.h * image.w * image.c;
      seen = slide.separate ? seen + left * image.c
                    : cut.of(seen, from * slide.stride_h + slide.first_h,
                             (many - 1) * slide.stride_h + slide.reach_h());
      const float* g = gradient + ((n * slide.rows + from) * slide.columns + left) * outputs;
      for (long p = 0; p < count; ++p) {
        pack(g + p * PANEL, many * wide, std::min<long>(PANEL, outputs - p * PANEL), outputs,
             panels.get() + p * many * wide * PANEL);
      }
      const Steps of_x{1, slide.stride_h * width * image.c, slide.stride_w * image.c};
      const Steps of_g{0, wide * PANEL, PANEL};
      for (long tap = 0; tap < slide.window_h * passes; ++tap) {
        const long i = tap / passes, j = tap % passes;
        const float* under = seen + (i * slide.dilation_h * width + j * slide.dilation_w) * image.c;
        for (long p = 0; p < count; ++p) {
          const int columns_of_p = std::min<long>(PANEL, outputs - p * PANEL);
          for (long t = 0; t < tiles; ++t) {
            const long first = t * inner / tiles, last = (t + 1) * inner / tiles;
            float* to = total + (tap * inner + first) * outputs + p * PANEL;
            tile_for(last - first, columns_of_p)(
                under + first, of_x, panels.get() + p * many * wide * PANEL, of_g, {many, wide}, to,
                outputs, columns_of_p, true);
          }
        }
      }
    }
  };
  const long slices = parts > 1 ? over(filters, 1 << 14) : 0;
  const auto add_up = [&](long slice) {
    const long from = slice * filters / slices, until = (slice + 1) * filters / slices;
    for (long part = 1; part < parts; ++part) {
      const float* other = more.get() + (part - 1) * filters;
      for (long i = from; i < until; ++i) call.out(0)[i] += other[i];
    }
  };
  call.in_turn({{parts, sum_of}, {slices, add_up}});
}

}  // namespace weft
