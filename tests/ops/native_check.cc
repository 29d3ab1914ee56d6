// Runs the kernels on random sizes beside plain loops, as XLA would call them, without XLA: built
// with sanitizers, it finds what they read, write or share that they should not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "examples.h"
#include "kernels.h"

namespace {

using weft::Kernel;
using Numbers = std::vector<float>;
using Sizes = std::vector<int64_t>;

std::mt19937 source;
std::vector<std::thread> helpers;
int wrong = 0;

long between(long least, long most) { return least + source() % (most - least + 1); }

Numbers numbers(long count) {
  std::normal_distribution<float> normal;
  Numbers made(count);
  for (float& each : made) each = normal(source);
  return made;
}

XLA_FFI_Error* count_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = 3;
  return nullptr;
}

XLA_FFI_Error* start_thread(XLA_FFI_ThreadPool_Schedule_Args* args) {
  helpers.emplace_back(args->task, args->data);
  return nullptr;
}

// Calls a kernel; of its arrays, the first are read, and the others written.
template <Kernel kernel>
void call(std::vector<const Numbers*> read, std::vector<Numbers*> written, Sizes sizes) {
  XLA_FFI_Api api{};
  api.XLA_FFI_ThreadPool_NumThreads = count_threads;
  api.XLA_FFI_ThreadPool_Schedule = start_thread;
  std::vector<XLA_FFI_Buffer> buffers(read.size() + written.size());
  std::vector<void*> args, rets;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_read = i < read.size();
    const Numbers& numbers = is_read ? *read[i] : *written[i - read.size()];
    buffers[i].data = const_cast<float*>(numbers.data());
    (is_read ? args : rets).push_back(&buffers[i]);
  }
  XLA_FFI_Array array{XLA_FFI_DataType_S64, sizes.size(), sizes.data()};
  void* attrs[] = {&array};
  XLA_FFI_CallFrame frame{};
  frame.api = &api;
  frame.stage = XLA_FFI_ExecutionStage_EXECUTE;
  frame.args.args = args.data();
  frame.rets.rets = rets.data();
  frame.attrs.attrs = attrs;
  if (weft::handler<kernel>(&frame) != nullptr) ++wrong;
  for (std::thread& helper : helpers) helper.join();
  helpers.clear();
}

template <Kernel kernel>
void call(const Numbers& a, const Numbers& b, Numbers& c, Sizes sizes) {
  call<kernel>({&a, &b}, {&c}, sizes);
}

void compare(const char* name, const Numbers& found, const std::vector<double>& wanted) {
  double error = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double off = std::abs(found[i] - wanted[i]);
    if (!(off <= error)) error = off;
  }
  if (error < 1e-3) return;
  ++wrong;
  std::printf("%s: off by %g\n", name, error);
}

// `tiled` taps along each axis for one that is computed by Winograd's way, or 0.
void convolutions(long tiled) {
  const bool in_tiles = tiled > 0;
  const auto any = [in_tiles](long least, long most, long given) {
    return in_tiles ? given : between(least, most);
  };
  const long n = between(1, 3), h = between(in_tiles ? 4 : 1, 14), w = between(in_tiles ? 4 : 1, 20);
  const long c = between(1, 40) + any(0, 0, 23), o = between(1, 80) + any(0, 0, 23);
  const long kh = any(1, 4, tiled), kw = any(1, 4, tiled), sh = any(1, 3, 1), sw = any(1, 3, 1);
  const long dh = sh == 1 ? any(1, 2, 1) : 1, dw = sw == 1 ? any(1, 2, 1) : 1;
  const long rows = (h + sh - 1) / sh, columns = (w + sw - 1) / sw;
  const long top = std::max(0L, (rows - 1) * sh + (kh - 1) * dh + 1 - h) / 2;
  const long left = std::max(0L, (columns - 1) * sw + (kw - 1) * dw + 1 - w) / 2;
  const Numbers x = numbers(n * h * w * c), f = numbers(kh * kw * c * o);
  const Numbers g = numbers(n * rows * columns * o);
  std::vector<double> y(g.size()), of_x(x.size()), of_f(f.size());
  for (long at = 0; at < n * rows * columns * kh * kw; ++at) {
    const long j = at % kw, i = at / kw % kh, position = at / kw / kh;
    const long v = position / columns % rows * sh + i * dh - top;
    const long u = position % columns * sw + j * dw - left;
    if (v < 0 || v >= h || u < 0 || u >= w) continue;
    const long pixel = (position / columns / rows * h + v) * w + u;
    for (long channel = 0; channel < c; ++channel) {
      for (long out = 0; out < o; ++out) {
        const long from = pixel * c + channel, tap = ((i * kw + j) * c + channel) * o + out;
        const long to = position * o + out;
        y[to] += x[from] * f[tap];
        of_x[from] += g[to] * f[tap];
        of_f[tap] += x[from] * g[to];
      }
    }
  }
  const Sizes sizes{n, h, w, c, rows, columns, o, kh, kw, sh, sw, dh, dw, top, left};
  Numbers found(g.size()), found_x(x.size()), found_f(f.size());
  call<weft::convolve>(x, f, found, sizes);
  compare("convolve", found, y);
  call<weft::convolve_input>(f, g, found_x, sizes);
  compare("convolve_input", found_x, of_x);
  call<weft::convolve_filter>(x, g, found_f, sizes);
  compare("convolve_filter", found_f, of_f);
}

void products() {
  const long batch = between(1, 3), rows = batch > 1 ? between(1, 60) : between(1, 600);
  const long sums = between(1, 300);
  const long columns = between(1, 90), turned_a = between(0, 1), turned_b = between(0, 1);
  const Numbers a = numbers(batch * rows * sums), b = numbers(batch * sums * columns);
  Numbers found(batch * rows * columns);
  call<weft::multiply>(a, b, found, {batch, rows, sums, columns, turned_a, turned_b});
  std::vector<double> wanted(found.size());
  for (long at = 0; at < batch * rows * columns; ++at) {
    const long n = at / columns / rows, r = at / columns % rows, q = at % columns;
    for (long k = 0; k < sums; ++k) {
      const long i = turned_a ? k * rows + r : r * sums + k;
      const long j = turned_b ? q * sums + k : k * columns + q;
      wanted[at] += double(a[n * rows * sums + i]) * b[n * sums * columns + j];
    }
  }
  compare("multiply", found, wanted);
}

// Calls a kernel only for what it touches: its results must be numbers at most.
template <Kernel kernel>
void touch(const char* name, const Numbers& a, const Numbers& b, long count, Sizes sizes) {
  Numbers found(count, NAN);
  call<kernel>(a, b, found, sizes);
  if (std::none_of(found.begin(), found.end(), [](float x) { return std::isnan(x); })) return;
  ++wrong;
  std::printf("%s: leaves numbers out\n", name);
}

void windows() {
  const long n = between(1, 3), h = between(1, 12), w = between(1, 12), c = between(16, 70);
  const long kh = between(1, 4), kw = between(1, 4), sh = between(1, 3), sw = between(1, 3);
  const long rows = (h + sh - 1) / sh, columns = (w + sw - 1) / sw, m = between(1, 3);
  const long top = std::max(0L, (rows - 1) * sh + kh - h) / 2;
  const long left = std::max(0L, (columns - 1) * sw + kw - w) / 2;
  const Numbers x = numbers(n * h * w * c), f = numbers(kh * kw * c * m);
  const Numbers g = numbers(n * rows * columns * c), wide = numbers(n * rows * columns * c * m);
  const Sizes pool{n, h, w, c, rows, columns, c, kh, kw, sh, sw, 1, 1, top, left};
  touch<weft::max_pool>("max_pool", x, x, g.size(), pool);
  touch<weft::max_pool_gradient>("max_pool_gradient", x, g, x.size(), pool);
  touch<weft::average_pool>("average_pool", x, x, g.size(), pool);
  touch<weft::average_pool_gradient>("average_pool_gradient", g, g, x.size(), pool);
  Sizes deep = pool;
  deep[6] = c * m;
  touch<weft::depthwise>("depthwise", x, f, wide.size(), deep);
  touch<weft::depthwise_input>("depthwise_input", f, wide, x.size(), deep);
  touch<weft::depthwise_filter>("depthwise_filter", x, wide, f.size(), deep);
}

void codes(const Numbers& places, long depth) {
  const long count = places.size();
  Numbers found(count * depth, NAN);
  call<weft::one_hot>({&places, &places, &places}, {&found}, {count, depth});
  const float value = places[0];
  const auto is_value = [value](float x) { return std::memcmp(&x, &value, sizeof x) == 0; };
  if (std::all_of(found.begin(), found.end(), is_value)) return;
  ++wrong;
  std::puts("one_hot: leaves numbers out");
}

void turned() {
  const long count = between(1, 3), rows = between(1, 150), columns = between(1, 150);
  const Numbers x = numbers(count * rows * columns);
  Numbers y(x.size(), NAN);
  call<weft::turn>({&x}, {&y}, {count, rows, columns});
  for (long at = 0; at < long(x.size()); ++at) {
    const long row = at / columns % rows, column = at % columns;
    if (y[at - row * columns - column + column * rows + row] == x[at]) continue;
    ++wrong;
    std::puts("turn: a number is elsewhere");
    return;
  }
}

void rows() {
  const long count = between(1, 90), length = between(1, 900), columns = 16 * between(1, 20);
  const Numbers x = numbers(count * length), y = numbers(count * columns);
  touch<weft::softmax>("softmax", x, x, x.size(), {count, length});
  touch<weft::sum_powers>("sum_powers", x, x, 2 * count, {count, length});
  touch<weft::place_of_largest>("place_of_largest", x, x, 2 * count, {count, length});
  touch<weft::place_of_smallest>("place_of_smallest", x, x, 2 * count, {count, length});
  touch<weft::moments>("moments", y, y, 2 * columns, {count, columns});
  Numbers chosen(between(1, 50));
  for (float& each : chosen) {
    const int32_t row = between(-2, count + 1);
    std::memcpy(&each, &row, sizeof row);
  }
  touch<weft::gather_rows>("gather_rows", y, chosen, chosen.size() * columns,
                           {long(chosen.size()), count, 4 * columns, 4});
  codes(chosen, count);
}

void attention() {
  const long batch = between(1, 3), heads = between(1, 3), rows = between(1, 130);
  const long causal = between(0, 1), keys = causal ? rows : between(1, 150);
  const long depth = between(1, 40), width = between(1, 40), all = batch * heads;
  const float scale = 0.3f;
  const Numbers q = numbers(all * rows * depth), k = numbers(all * keys * depth);
  const Numbers v = numbers(all * keys * width), g = numbers(all * rows * width);
  const Numbers mask = numbers(batch * keys);
  std::vector<double> out(g.size()), dq(q.size()), dk(k.size()), dv(v.size());
  for (long at = 0; at < all * rows; ++at) {
    const long head = at / rows, row = at % rows, seen = causal ? row + 1 : keys;
    const float *query = &q[at * depth], *gradient = &g[at * width];
    std::vector<double> weight(seen), change(seen);
    double sum = 0, mean = 0;
    for (long j = 0; j < seen; ++j) {
      const long key = head * keys + j;
      double score = causal ? 0 : mask[head / heads * keys + j];
      for (long d = 0; d < depth; ++d) score += double(scale) * query[d] * k[key * depth + d];
      sum += weight[j] = std::exp(score);
      for (long d = 0; d < width; ++d) change[j] += double(gradient[d]) * v[key * width + d];
    }
    for (long j = 0; j < seen; ++j) mean += (weight[j] /= sum) * change[j];
    for (long j = 0; j < seen; ++j) {
      const long key = head * keys + j;
      const double slope = weight[j] * (change[j] - mean) * scale;
      for (long d = 0; d < width; ++d) out[at * width + d] += weight[j] * v[key * width + d];
      for (long d = 0; d < width; ++d) dv[key * width + d] += weight[j] * gradient[d];
      for (long d = 0; d < depth; ++d) dq[at * depth + d] += slope * k[key * depth + d];
      for (long d = 0; d < depth; ++d) dk[key * depth + d] += slope * query[d];
    }
  }
  int32_t bits;
  std::memcpy(&bits, &scale, sizeof bits);
  const Sizes sizes{batch, heads, rows, keys, depth, width, causal, bits, !causal, keys, 0, 0, 1};
  Numbers found(g.size(), NAN), found_q(q.size(), NAN), found_k(k.size(), NAN);
  Numbers found_v(v.size(), NAN);
  std::vector<const Numbers*> given{&q, &k, &v}, with_gradient{&q, &k, &v, &g};
  if (!causal) given.push_back(&mask), with_gradient.push_back(&mask);
  call<weft::attend>(given, {&found}, sizes);
  call<weft::attend_gradient>(with_gradient, {&found_q, &found_k, &found_v}, sizes);
  compare("attend", found, out);
  compare("attend_gradient, queries", found_q, dq);
  compare("attend_gradient, keys", found_k, dk);
  compare("attend_gradient, values", found_v, dv);
}

std::string field(int number, const std::string& content) {
  return std::string{char(number << 3 | 2), char(content.size())} + content;
}

std::string entry(const std::string& key, const std::string& feature) {
  return field(1, field(1, key) + field(2, feature));
}

// An example with some strings, floats and integers, in any order.
std::string example() {
  const std::string text = field(1, std::string(between(0, 9), 'a'));
  std::vector<std::string> entries{
      entry("a", field(1, field(1, "b") + text)),
      entry("b", field(2, field(1, std::string(4 * between(0, 5), 'x')))),
      entry("c", field(3, field(1, std::string(between(0, 9), '\xff') + "\1\2")))};
  std::shuffle(entries.begin(), entries.end(), source);
  return field(1, entries[0] + entries[1] + entries[2]);
}

// Each of them in memory of its own, so that what is read behind its end is seen.
bool can_be_read(const std::vector<std::string>& examples) {
  std::vector<std::vector<char>> copies;
  for (const std::string& each : examples) copies.emplace_back(each.begin(), each.end());
  std::vector<std::string_view> views;
  for (const auto& each : copies) views.emplace_back(each.data(), each.size());
  std::vector<weft::Column> columns{{"a", weft::Kind::texts, {}, {}, {}, {}},
                                    {"b", weft::Kind::floats, {}, {}, {}, {}},
                                    {"c", weft::Kind::integers, {}, {}, {}, {}}};
  return weft::read_examples(views, columns);
}

void examples() {
  std::vector<std::string> all{example(), example(), example()};
  if (!can_be_read(all)) {
    ++wrong;
    std::puts("read_examples: refuses what is as usual");
  }
  for (std::string& each : all) {
    for (long i = between(0, 3); i > 0; --i) each[between(0, each.size() - 1)] = char(source());
    each.resize(between(0, each.size()));
    can_be_read(all);
  }
}

}  // namespace

int main(int, char** arguments) {
  source.seed(std::atol(arguments[1]));
  for (int i = 0; i < 30; ++i) {
    convolutions(0);
    if (i % 5 == 0) convolutions(i % 2 ? 3 : 5);
    products();
    windows();
    rows();
    turned();
    attention();
    for (int n = 0; n < 30; ++n) examples();
  }
  return wrong;
}
