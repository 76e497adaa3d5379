// Householder QR of blocks that fit into a cache.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0::ortho {

/// A = Q R with A n x b, n >= b: R in the upper triangle, the vectors v_j of H_j = I - tau_j v_j v_j^H below
/// it (v_j(j) = 1 is not stored), Q = H_0 .. H_{b-1}. The diagonal of R is real. Source: Golub and Van Loan,
/// Matrix Computations, 5.2; LAPACK's convention of tau.
template <class T>
[[nodiscard]] std::vector<T> householder_qr(HostView<T> a);

/// C = Q C with Q as householder_qr left it and C n x c.
template <class T>
void apply_q(HostView<const T> a, const std::vector<T>& tau, HostView<T> c);

}  // namespace ts::inline v0::ortho
