// Attention, softmax(scale * q k^T + mask) v, and its gradients: some rows of scores at a time, which
// never leave the cache of a core.
#include <cstring>

#include "kernels.h"
#include "product.h"
#include "rows.h"

namespace weft {
namespace {

constexpr long BLOCK = 4 * ROWS;  // rows of scores at once

// A matrix as panels, of which each may be read to its end.
class Panels {
 public:
  Panels(long most_rows, long most_columns)
      : copy_(most_rows * over(most_columns, PANEL) * PANEL) {}
  Panels(const Matrix& from, long rows, long columns) : Panels(rows, columns) {
    fill(from, rows, columns);
  }

  void fill(const Matrix& from, long rows, long columns) {
    rows_ = rows;
    panels_of(from, {0, rows, 0, columns}, copy_.get());
  }

  // The columns from `column` on.
  const float* from(long column) const { return copy_.get() + column * rows_; }

 private:
  const Scratch<float> copy_;
  long rows_ = 0;
};

// c = a b, or c += a b where `add`, of the first `sums` rows of b.
void multiply_panels(const float* a, Steps of_a, long rows, const Panels& b, long sums, long columns,
                     float* c, long c_row, bool add) {
  const long tiles = over(rows, ROWS);
  for (long p = 0; p < columns; p += PANEL) {
    const long some = std::min<long>(PANEL, columns - p);
    for (long t = 0; t < tiles; ++t) {
      const long first = t * rows / tiles, count = (t + 1) * rows / tiles - first;
      tile_for(count, some)(a + first * of_a.row, of_a, b.from(p), {0, 0, PANEL}, {1, sums},
                            c + first * c_row + p, c_row, some, add);
    }
  }
}

// What the numbers of a call mean. `heads` share the first axis of a mask with others.
struct Attention {
  long batch, heads, rows, keys, depth, width;  // the last two: of a query or key, and of a value
  bool causal;
  float scale;
  const float* mask = nullptr;
  long mask_batch = 0, mask_head = 0, mask_row = 0, mask_column = 0;

  // The mask is the first of the inputs from `mask_at` on.
  Attention(const Call& call, int mask_at) {
    const int64_t* s = call.sizes();
    batch = s[0], heads = s[1], rows = s[2], keys = s[3], depth = s[4], width = s[5];
    causal = s[6];
    const uint32_t bits = static_cast<uint32_t>(s[7]);
    std::memcpy(&scale, &bits, sizeof scale);
    if (!s[8]) return;
    mask = call.in(mask_at);
    mask_batch = s[9], mask_head = s[10], mask_row = s[11], mask_column = s[12];
  }

  // How many keys the rows before `end` see.
  long seen(long end) const { return causal ? end : keys; }
};

// Some rows of the weights of a head.
class Weights {
 public:
  Weights(const Attention& sizes, long head)
      : sizes_(sizes), head_(head), step_(over(sizes.keys, PANEL) * PANEL + 16),
        all_(std::min(BLOCK, sizes.rows) * step_) {}

  float* row(long r) const { return all_.get() + r * step_; }
  long step() const { return step_; }

  // The powers of the scores of rows `begin` to `end`, and what is to be multiplied with each row's.
  void compute(const float* q, const Panels& keys, long begin, long end, float* factors) {
    const long seen = sizes_.seen(end), depth = sizes_.depth;
    multiply_panels(q + begin * depth, {depth, 0, 1}, end - begin, keys, depth,
                    over(seen, PANEL) * PANEL, row(0), step_, false);
    for (long r = begin; r < end; ++r) {
      const long own = sizes_.seen(r + 1);
      float* scores = row(r - begin);
      scale_and_mask(scores, r, own);
      const float most = extreme<Larger>(scores, own);
      const float sum = sum_of_powers(scores, own, most, [&](long i, long left, Vector powers) {
        store_part(scores + i, left, powers);
      });
      std::fill(scores + own, scores + over(seen, PANEL) * PANEL, 0.f);
      factors[r - begin] = 1 / sum;
    }
  }

 private:
  void scale_and_mask(float* scores, long r, long count) const {
    const Vector scale = all(sizes_.scale);
    if (sizes_.mask == nullptr) {
      for (long i = 0; i < count; i += WIDTH) store(scores + i, load(scores + i) * scale);
      return;
    }
    const float* mask = sizes_.mask + head_ / sizes_.heads * sizes_.mask_batch +
                        head_ % sizes_.heads * sizes_.mask_head + r * sizes_.mask_row;
    for (long i = 0; i < count; i += WIDTH) {
      const Vector more = sizes_.mask_column ? load_part(mask + i, count - i, 0) : all(*mask);
      store(scores + i, load(scores + i) * scale + more);
    }
  }

  const Attention& sizes_;
  const long head_, step_;
  const Scratch<float> all_;
};

// Calls work(begin, end) for the rows `first` to `last`, a block of them at a time.
template <class Work>
void each_block(long first, long last, const Work& work) {
  const long count = last - first, blocks = over(count, BLOCK);
  for (long b = 0; b < blocks; ++b) {
    work(first + b * count / blocks, first + (b + 1) * count / blocks);
  }
}

void multiply_row(float* row, long count, float factor) {
  for (long i = 0; i < count; i += WIDTH) {
    store_part(row + i, count - i, load_part(row + i, count - i, 0) * all(factor));
  }
}

}  // namespace

// From queries, keys, values and, it may be, a mask.
void attend(const Call& call) {
  const Attention s(call, 3);
  const long heads = s.batch * s.heads;
  const long shares = std::clamp(over(2 * call.threads(), heads), 1L, over(s.rows, BLOCK));
  call.parallel(heads * shares, [&](long task) {
    const long head = task / shares, share = task % shares;
    const long first = share * s.rows / shares, last = (share + 1) * s.rows / shares;
    const float* q = call.in(0) + head * s.rows * s.depth;
    const float* k = call.in(1) + head * s.keys * s.depth;
    const float* v = call.in(2) + head * s.keys * s.width;
    float* out = call.out(0) + head * s.rows * s.width;
    const Panels keys({k, 1, s.depth}, s.depth, s.seen(last));
    const Panels values({v, s.width, 1}, s.seen(last), s.width);
    Weights weights(s, head);
    each_block(first, last, [&](long begin, long end) {
      float factors[BLOCK];
      weights.compute(q, keys, begin, end, factors);
      multiply_panels(weights.row(0), {weights.step(), 0, 1}, end - begin, values, s.seen(end),
                      s.width, out + begin * s.width, s.width, false);
      for (long r = begin; r < end; ++r) multiply_row(out + r * s.width, s.width, factors[r - begin]);
    });
  });
}

// From queries, keys, values, the gradient of the result and, it may be, a mask: the gradients of the
// first three.
void attend_gradient(const Call& call) {
  const Attention s(call, 4);
  call.parallel(s.batch * s.heads, [&](long head) {
    const long of_q = head * s.rows * s.depth, of_k = head * s.keys * s.depth;
    const long of_v = head * s.keys * s.width, of_out = head * s.rows * s.width;
    const float *q = call.in(0) + of_q, *k = call.in(1) + of_k, *v = call.in(2) + of_v;
    const float* g = call.in(3) + of_out;
    float *dq = call.out(0) + of_q, *dk = call.out(1) + of_k, *dv = call.out(2) + of_v;
    std::fill_n(dk, s.keys * s.depth, 0.f);
    std::fill_n(dv, s.keys * s.width, 0.f);

    const Panels keys({k, 1, s.depth}, s.depth, s.keys);
    const Panels values({v, 1, s.width}, s.width, s.keys);
    const Panels rows_of_keys({k, s.depth, 1}, s.keys, s.depth);
    const long most = std::min(BLOCK, s.rows);
    Panels queries(most, s.depth), gradients(most, s.width);
    Weights weights(s, head);
    const Scratch<float> room(most * weights.step());
    float* changes = room.get();
    each_block(0, s.rows, [&](long begin, long end) {
      float factors[BLOCK];
      const long count = end - begin, seen = s.seen(end), step = weights.step();
      weights.compute(q, keys, begin, end, factors);
      multiply_panels(g + begin * s.width, {s.width, 0, 1}, count, values, s.width,
                      over(seen, PANEL) * PANEL, changes, step, false);
      for (long r = 0; r < count; ++r) {  // from here on: weights, and gradients of scores
        float *weight = weights.row(r), *change = changes + r * step;
        const Vector factor = all(factors[r]);
        const float mean = fold<Sum>(over(seen, WIDTH) * WIDTH, [&](long i, long) {
          const Vector own = load(weight + i) * factor;
          store(weight + i, own);
          return own * load(change + i);
        });
        for (long i = 0; i < seen; i += WIDTH) {
          store(change + i, load(weight + i) * (load(change + i) - all(mean)) * all(s.scale));
        }
      }
      queries.fill({q + begin * s.depth, s.depth, 1}, count, s.depth);
      gradients.fill({g + begin * s.width, s.width, 1}, count, s.width);
      const Steps turned{1, 0, step};
      multiply_panels(weights.row(0), turned, seen, gradients, count, s.width, dv, s.width, true);
      multiply_panels(changes, turned, seen, queries, count, s.depth, dk, s.depth, true);
      multiply_panels(changes, {step, 0, 1}, count, rows_of_keys, seen, s.depth,
                      dq + begin * s.depth, s.depth, false);
    });
  });
}

}  // namespace weft
