// Windows that slide over images [n, h, w, channels], and which rows and columns they see.
#pragma once

#include <algorithm>
#include <type_traits>

#include "call.h"
#include "tile.h"

namespace weft {

// The taps between a position of one array and those of another, along one axis: `count` of them,
// the first tap and the position that it leads to. `all` says that none is lost to a border.
struct Reach {
  long tap, position, count;
  bool all;

  bool operator==(const Reach& other) const { return tap == other.tap && count == other.count; }
};

// Windows along one axis. Their stride or their dilation is 1.
struct Axis {
  long image, results, window, stride, dilation, before;

  // What a window sees: taps go up by 1, positions of the image by the dilation.
  Reach seen_by(long result) const {
    const long start = result * stride - before;
    const long first = std::max(0L, over(-start, dilation));
    const long end = std::min(window, over(std::max(0L, image - start), dilation));
    return {first, start + first * dilation, std::max(0L, end - first), end - first == window};
  }

  // Which windows see a position of the image: taps go up by the stride, results down by the
  // dilation.
  Reach seeing(long position) const {
    const long from = position + before, phase = from % stride, last = from / stride;
    const long taps = phase < window ? over(window - phase, stride) : 0;
    const long first = std::max(0L, over(last - results + 1, dilation));
    const long end = std::min(taps, last / dilation + 1);
    return {phase + first * stride, last - first * dilation, std::max(0L, end - first),
            taps > 0 && end - first == taps};
  }

  Axis back() const {
    return {results, image, window, stride, dilation, (window - 1) * dilation - before};
  }

  // The first window that sees a position of the image or what is behind it, and the first that
  // begins behind it.
  long first_seeing(long position) const {
    return std::max(0L, over(position + before - (window - 1) * dilation, stride));
  }
  long first_behind(long position) const {
    return std::min(results, (position + before) / stride + 1);
  }
};

// What windows and images see of each other at all positions of an axis.
class Reaches {
 public:
  template <class Find>
  Reaches(long count, const Find& find) : count_(count), found_(count) {
    for (long i = 0; i < count; ++i) found_.get()[i] = find(i);
  }

  const Reach& operator[](long position) const { return found_.get()[position]; }

  // Calls work(first, how many, reach of the first) for runs of up to `most` positions, `apart`
  // from each other, that meet the same taps.
  template <class Work>
  void runs(long apart, long most, const Work& work) const {
    const Reach* found = found_.get();
    for (long phase = 0; phase < std::min(apart, count_); ++phase) {
      for (long first = phase, end; first < count_; first = end) {
        long many = 1;
        end = first + apart;
        for (; many < most && end < count_ && found[end] == found[first]; end += apart) ++many;
        work(first, many, found[first]);
      }
    }
  }

 private:
  const long count_;
  const Scratch<Reach> found_;
};

// The sizes of windows as they come with a call.
struct Windows {
  long images, channels, outputs;
  Axis rows, columns;

  explicit Windows(const int64_t* s)
      : images(s[0]), channels(s[3]), outputs(s[6]),
        rows{s[1], s[4], s[7], s[9], s[11], s[13]},
        columns{s[2], s[5], s[8], s[10], s[12], s[14]} {}

  // Those that slide over results the other way, if strides are 1: each sees what saw it.
  Windows back() const {
    Windows made = *this;
    std::swap(made.channels, made.outputs);
    made.rows = rows.back();
    made.columns = columns.back();
    return made;
  }
};

// Calls work(image, from, until) for all rows of all images, at least `fewest` rows at once where
// there are as many, and few enough for `numbers` in each row to stay near a core.
template <class Work>
void share_rows(const Call& call, long images, long rows, long fewest, long numbers,
                const Work& work) {
  constexpr long CACHED = 100'000;
  const long even = over(images * rows, 4 * call.threads());
  const long most = std::min(rows, std::max(fewest, std::min(even, CACHED / numbers + 1)));
  const long chunks = over(rows, most);
  call.parallel(images * chunks, [&](long task) {
    const long from = task % chunks * most;
    work(task / chunks, from, std::min(rows, from + most));
  });
}

// Calls work(at) for the first of each register's channels, at least WIDTH of them in all. The
// last registers may overlap.
template <class Work>
inline void each_vector(long channels, const Work& work, long from = 0) {
  for (long at = from; at < channels; at += WIDTH) work(std::min(at, channels - WIDTH));
}

// As `each_vector`, but work(at, count) is for four registers at once, or one.
template <class Work>
inline void each_vectors(long channels, const Work& work) {
  long at = 0;
  for (; at + 4 * WIDTH <= channels; at += 4 * WIDTH) {
    work(at, std::integral_constant<int, 4>{});
  }
  each_vector(channels, [&](long last) { work(last, std::integral_constant<int, 1>{}); }, at);
}

}  // namespace weft
