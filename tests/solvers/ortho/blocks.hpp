// What the tests of this room share.
#pragma once

#include <algorithm>
#include <cmath>

#include "tallskinny/app/generators/gram_schmidt.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/solvers/ortho/compared/catalogue.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::test {

using generators::graded_block;
using generators::orthonormal_block;
using generators::random_block;

/// max |A - B|
template <class T>
double distance(HostView<const T> a, HostView<const T> b) {
  double worst = 0;
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j) {
      const double d = std::abs(a(i, j) - b(i, j));
      if (!(d <= worst)) worst = d;
    }
  return worst;
}

/// max |A|
template <class T>
double largest(HostView<const T> a) {
  return distance<T>(a, Matrix<T>::zeros(a.rows(), a.cols()).view());
}

/// max |X - Q R|
template <class T>
double residual(HostView<const T> x, HostView<const T> q, HostView<const T> r) {
  Matrix<T> product(x.rows(), x.cols());
  tsmm(Context{}, Op::none, T{1}, q, r, T{0}, product.view());
  return distance<T>(product.view(), x);
}

}  // namespace ts::test
