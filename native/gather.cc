// Rows of a table, chosen by their numbers.
#include <algorithm>
#include <cstring>

#include "kernels.h"

namespace weft {
namespace {

constexpr long SHARE = 1 << 16;  // bytes that are worth the attention of another thread
constexpr long AHEAD = 8;        // rows that are asked for before their turn
constexpr long LINE = 64;        // bytes that memory brings at once
constexpr long FETCHED = 512;    // bytes of a row after which the CPU sees where it is going

// Calls work(from, until) for parts of `count` rows of so many bytes.
template <class Work>
void in_parts(const Call& call, long count, long bytes, const Work& work) {
  const long parts = std::clamp(count * bytes / SHARE, 1L, std::min(count, 4 * call.threads()));
  call.parallel(parts, [&](long part) {
    work(part * count / parts, (part + 1) * count / parts);
  });
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
      const char* next = row(std::min(i + AHEAD, until - 1));
      for (long at = 0; at < std::min(bytes, FETCHED); at += LINE) __builtin_prefetch(next + at);
      std::memcpy(found + i * bytes, row(i), bytes);
    }
  });
}

}  // namespace

// Numbers that no row has are taken for the nearest that one has.
void gather_rows(const Call& call) {
  const int64_t* sizes = call.sizes();
  const auto copy = sizes[3] == 4 ? copy_rows<int32_t> : copy_rows<int64_t>;
  copy(call, sizes[0], sizes[1], sizes[2]);
}

}  // namespace weft
