// The product of two blocks; see docs/modules/triton-compiler.md.
#pragma once

#include "math_functions.h"

namespace triton_openreg {

// c += a @ b. A tile of c stays in registers while all of k goes by.
template <int M, int N, int K, class T>
void dot(const T* a, const T* b, T* c) {
  constexpr int kRows = M % 4 == 0 ? 4 : 1;
  constexpr int kColumns = N % 16 == 0 ? 16 : N % 8 == 0 ? 8 : N;
  for (int i = 0; i < M; i += kRows) {
    for (int j = 0; j < N; j += kColumns) {
      T tile[kRows][kColumns];
      for (int r = 0; r < kRows; ++r) {
        for (int s = 0; s < kColumns; ++s) tile[r][s] = c[(i + r) * N + j + s];
      }
      for (int k = 0; k < K; ++k) {
        for (int r = 0; r < kRows; ++r) {
          const T x = a[(i + r) * K + k];
          for (int s = 0; s < kColumns; ++s) {
            tile[r][s] = multiply_add(x, b[k * N + j + s], tile[r][s]);
          }
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int s = 0; s < kColumns; ++s) c[(i + r) * N + j + s] = tile[r][s];
      }
    }
  }
}

}  // namespace triton_openreg
