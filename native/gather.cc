// Rows of a table, chosen by their numbers.
#include <algorithm>
#include <cstring>

#include "kernels.h"
#include "tile.h"

namespace weft {
namespace {

constexpr long SHARE = 1 << 16;  // bytes that are worth the attention of another thread
constexpr long AHEAD = 16;       // rows that are asked for before their turn
constexpr long LINE = 64;        // bytes that memory brings at once
constexpr long FETCHED = 512;    // bytes of a row after which the CPU sees where it is going
constexpr long LEAD = 8192;      // bytes by which a place is asked for before something is written
constexpr long BLOCK = 16;       // rows of floats that are whole lines, whatever their length

// Calls work(from, until) for parts of `count` rows of so many bytes.
template <class Work>
void in_parts(const Call& call, long count, long bytes, const Work& work) {
  const long parts = std::clamp(count * bytes / SHARE, 1L, std::min(count, 4 * call.threads()));
  call.parallel(parts, [&](long part) {
    work(part * count / parts, (part + 1) * count / parts);
  });
}

void ask_for(const char* from, long bytes) {
  for (long at = 0; at < bytes; at += LINE) __builtin_prefetch(from + at);
}

// Memory brings a line even if all of it is written: it is asked for so that nothing waits for it.
void ask_to_write(char* from, long bytes) {
  for (long at = 0; at < bytes; at += LINE) __builtin_prefetch(from + at, 1);
}

template <class Index>
void copy_rows(const Call& call, long count, long rows, long bytes) {
  const char* table = call.in<char>(0);
  const Index* numbers = call.in<Index>(1);
  char* found = call.out<char>(0);
  const auto row = [&](long i) {
    return table + std::clamp<long>(numbers[i], 0, rows - 1) * bytes;
  };
  in_parts(call, count, bytes, [&](long from, long until) {
    for (long i = from; i < until; ++i) {
      ask_for(row(std::min(i + AHEAD, until - 1)), std::min(bytes, FETCHED));
      ask_to_write(found + i * bytes + LEAD, bytes);
      std::memcpy(found + i * bytes, row(i), bytes);
    }
  });
}

void fill(float* to, long count, float value) {
  constexpr long step = LINE / sizeof(float);
  float copies[WIDTH];
  std::fill_n(copies, WIDTH, value);
  const Vector part = load(copies);
  for (; count >= step; to += step, count -= step) {
    ask_to_write(reinterpret_cast<char*>(to) + LEAD, LINE);
    for (long i = 0; i < step; i += WIDTH) store(to + i, part);
  }
  std::fill_n(to, count, value);
}

}  // namespace

// Numbers that no row has are taken for the nearest that one has.
void gather_rows(const Call& call) {
  const int64_t* sizes = call.sizes();
  const auto copy = sizes[3] == 4 ? copy_rows<int32_t> : copy_rows<int64_t>;
  copy(call, sizes[0], sizes[1], sizes[2]);
}

// Rows of one number, in all places but one of another: `count` numbers tell the place, or none.
void one_hot(const Call& call) {
  const long count = call.sizes()[0], depth = call.sizes()[1];
  const int32_t* places = call.in<int32_t>(0);
  const float on = *call.in(1), off = *call.in(2);
  float* found = call.out(0);
  in_parts(call, over(count, BLOCK), BLOCK * depth * sizeof(float), [&](long from, long until) {
    for (long block = from; block < until; ++block) {
      const long first = block * BLOCK, last = std::min(first + BLOCK, count);
      fill(found + first * depth, (last - first) * depth, off);
      for (long i = first; i < last; ++i) {
        if (places[i] >= 0 && places[i] < depth) found[i * depth + places[i]] = on;
      }
    }
  });
}

}  // namespace weft
