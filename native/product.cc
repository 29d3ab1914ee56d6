// Products of matrices, one or a batch of them, each factor as it is or transposed.
#include "product.h"

#include "kernels.h"

namespace weft {

void multiply(const Call& call) {
  const int64_t* s = call.sizes();
  const long batch = s[0], rows = s[1], sums = s[2], columns = s[3];
  const Matrix a{call.in(0), s[4] ? 1 : sums, s[4] ? rows : 1};
  const Matrix b{call.in(1), s[5] ? 1 : columns, s[5] ? sums : 1};
  multiply(
      call, batch, rows, sums, columns,
      [&](long n, Left& to) { take({a.at + n * rows * sums, a.row, a.column}, to); },
      [&](long n, const Part& part, float* to) {
        panels_of({b.at + n * sums * columns, b.row, b.column}, part, to);
      },
      call.out(0));
}

}  // namespace weft
