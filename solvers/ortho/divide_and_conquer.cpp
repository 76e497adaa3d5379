#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/blas.hpp"
#include "tallskinny/solvers/ortho/tridiagonal.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {

using Int = const int*;

struct MergeRoutines {
  void (*solve)(const char* compz, Int n, double* d, double* e, double* z, Int ldz, double* work, int* info,
                std::size_t) = nullptr;
  void (*deflate)(int* k, Int n, Int n1, double* d, double* q, Int ldq, int* indxq, double* rho, double* z,
                  double* dlamda, double* w, double* q2, int* indx, int* indxc, int* indxp, int* coltyp,
                  int* info) = nullptr;
  void (*secular)(Int n, Int i, const double* d, const double* z, double* delta, const double* rho, double* lambda,
                  int* info) = nullptr;
  void (*merge)(Int n1, Int n2, const double* a, Int step1, Int step2, int* index) = nullptr;
  bool found = false;

  MergeRoutines() {
    const auto& library = lapack_library();
    found = library.bind(solve, "dsteqr_") && library.bind(deflate, "dlaed2_") && library.bind(secular, "dlaed4_") &&
            library.bind(merge, "dlamrg_");
  }
};

const MergeRoutines& routines() {
  static const MergeRoutines all;
  return all;
}

/// Two neighbouring halves, of n1 and n - n1 rows, and what couples them.
struct Halves {
  int n, n1;
  double* d;  ///< their eigenvalues, and after the merge those of the whole
  double* q;  ///< their eigenvectors by columns, likewise
  int ld;
  int* order;  ///< sorts the eigenvalues of each half, likewise; from 1
  double rho;
  double* work;  ///< n^2
};

/// One merge: xLAED1 with its loops shared among threads.
class Merge : Halves {
 public:
  Merge(int threads, const Halves& halves)
      : Halves(halves),
        threads_(threads),
        z_(at(n)),
        lambda_(at(n)),
        w_(at(n)),
        index_(at(n)),
        compressed_(at(n)),
        types_(at(std::max(n, 4))) {}

  bool run() {
    for (int j = 0; j < n1; ++j) z_[at(j)] = q[n1 - 1 + index_t{j} * ld];
    for (int j = n1; j < n; ++j) z_[at(j)] = q[n1 + index_t{j} * ld];
    std::vector<int> permuted(at(n));
    int info = 0;
    routines().deflate(&k_, &n, &n1, d, q, &ld, order, &rho, z_.data(), lambda_.data(), w_.data(), work, index_.data(),
                       compressed_.data(), permuted.data(), types_.data(), &info);
    if (info != 0) return false;
    if (k_ == 0) {
      std::iota(order, order + n, 1);
      return true;
    }
    if (!roots()) return false;
    vectors();
    const int rest = n - k_, up = 1, down = -1;
    routines().merge(&k_, &rest, d, &up, &down, order);
    return true;
  }

 private:
  static constexpr index_t piece = 64;
  template <class Body>
  void in_pieces(index_t count, const Body& body) const {
    parallel_pieces(threads_, (count + piece - 1) / piece,
                    [&](index_t p, int) { body(p * piece, std::min(count, (p + 1) * piece)); });
  }

  /// Roots of the secular equation; column j of Q gets their distances from the poles.
  bool roots() {
    std::vector<int> failed(at((k_ + piece - 1) / piece));
    in_pieces(k_, [&](index_t first, index_t last) {
      for (index_t j = first; j < last; ++j) {
        const int number = static_cast<int>(j) + 1;
        int info = 0;
        routines().secular(&k_, &number, lambda_.data(), w_.data(), q + j * ld, &rho, d + j, &info);
        if (info != 0) failed[at(first / piece)] = info;
      }
    });
    return std::all_of(failed.begin(), failed.end(), [](int info) { return info == 0; });
  }

  /// The z to which the roots belong exactly (Gu and Eisenstat), the vectors of the rank-one problem, and Q times them.
  void vectors() {
    const index_t k = k_;
    Matrix<double> s(k, k);  // by columns
    if (k > 2) {
      std::vector<double> exact(at(k));
      in_pieces(k, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) exact[at(i)] = q[i + i * ld];
        for (index_t j = 0; j < k; ++j)
          for (index_t i = first; i < last; ++i)
            if (i != j) exact[at(i)] *= q[i + j * ld] / (lambda_[at(i)] - lambda_[at(j)]);
      });
      for (index_t i = 0; i < k; ++i) w_[at(i)] = std::copysign(std::sqrt(-exact[at(i)]), w_[at(i)]);
    }
    in_pieces(k, [&](index_t first, index_t last) {
      std::vector<double> x(at(k));
      for (index_t j = first; j < last; ++j) {
        double squares = 0;
        for (index_t i = 0; i < k; ++i) {
          x[at(i)] = k > 2 ? w_[at(i)] / q[i + j * ld] : q[i + j * ld];
          squares += x[at(i)] * x[at(i)];
        }
        const double length = k > 2 ? std::sqrt(squares) : 1;
        for (index_t i = 0; i < k; ++i) s(j, i) = x[at(compressed_[at(i)] - 1)] / length;
      }
    });
    turn(s);
  }

  /// Q S, of which dlaed2 packed the columns of Q: those of the first half, of both, and of the second.
  void turn(const Matrix<double>& s) const {
    const index_t k = k_, n2 = n - n1, n12 = types_[0] + types_[1], n23 = types_[1] + types_[2];
    constexpr index_t columns = 256, rows = 512;
    const index_t across = (k + columns - 1) / columns, above = (n1 + rows - 1) / rows, below = (n2 + rows - 1) / rows;
    parallel_pieces(threads_, across * (above + below), [&](index_t p, int) {
      const index_t j = p / (above + below) * columns, part = p % (above + below), width = std::min(columns, k - j);
      const bool upper = part < above;
      const index_t r = (upper ? part : part - above) * rows, height = std::min<index_t>(rows, (upper ? n1 : n2) - r);
      double* const to = q + (upper ? r : n1 + r) + j * ld;
      const index_t depth = upper ? n12 : n23;
      for (index_t c = 0; depth == 0 && c < width; ++c) std::fill_n(to + c * ld, height, 0.0);
      if (depth > 0)
        blas_gemm<double>("N", "N", height, width, depth, 1.0, work + (upper ? 0 : n1 * n12) + r, upper ? n1 : n2,
                          s.data() + j * k + (upper ? 0 : types_[0]), k, 0.0, to, ld);
    });
  }

  int threads_;
  std::vector<double> z_, lambda_, w_;
  std::vector<int> index_, compressed_, types_;
  int k_ = 0;
};

/// Where the parts of T begin, halved until they are small, and n.
std::vector<index_t> parts_of(index_t n) {
  constexpr index_t smallest = 32;
  std::vector<index_t> begins{0, n};
  while (begins[1] > smallest) {
    std::vector<index_t> halved{0};
    for (std::size_t i = 1; i < begins.size(); ++i)
      halved.push_back((begins[i - 1] + begins[i]) / 2), halved.push_back(begins[i]);
    begins = std::move(halved);
  }
  return begins;
}

}  // namespace

bool has_divide_and_conquer() { return routines().found; }

bool divide_and_conquer(const Context& ctx, Tridiagonal t, std::vector<double>& values, Matrix<double>& z) {
  const index_t n = t.size();
  const int ld = static_cast<int>(n), threads = blas_threads(ctx);
  const OneBlasThread one;
  auto begins = parts_of(n);
  for (std::size_t i = 1; i + 1 < begins.size(); ++i) {  // T is the sum of its parts and of matrices of rank one
    const index_t cut = begins[i];
    const double coupling = std::abs(t.e[at(cut - 1)]);
    t.d[at(cut - 1)] -= coupling, t.d[at(cut)] -= coupling;
  }
  z = Matrix<double>::zeros(n, n);
  Matrix<double> work(n, n);
  std::vector<int> order(at(n));
  std::vector<char> failed(begins.size());
  parallel_pieces(threads, static_cast<index_t>(begins.size()) - 1, [&](index_t p, int) {
    const index_t first = begins[at(p)];
    const int size = static_cast<int>(begins[at(p + 1)] - first);
    std::vector<double> space(at(2 * size)), e(t.e.begin() + first, t.e.begin() + first + size);  // is overwritten
    int info = 0;
    routines().solve("I", &size, &t.d[at(first)], e.data(), z.data() + first * n + first, &ld, space.data(), &info, 1);
    failed[at(p)] = info != 0;
    std::iota(&order[at(first)], &order[at(first)] + size, 1);
  });
  while (begins.size() > 2) {
    const auto merges = static_cast<index_t>(begins.size() - 1) / 2;
    const bool side_by_side = merges > 4;  // else each of them has all threads
    parallel_pieces(side_by_side ? threads : 1, merges, [&](index_t m, int) {
      const index_t first = begins[at(2 * m)], cut = begins[at(2 * m + 1)], last = begins[at(2 * m + 2)];
      Merge merge(side_by_side ? 1 : threads,
                  {static_cast<int>(last - first), static_cast<int>(cut - first), &t.d[at(first)],
                   z.data() + first * n + first, ld, &order[at(first)], t.e[at(cut - 1)], work.data() + first * n});
      if (!merge.run()) failed[at(m)] = 1;
    });
    for (index_t i = 0; i <= merges; ++i) begins[at(i)] = begins[at(2 * i)];
    begins.resize(at(merges + 1));
  }
  if (std::find(failed.begin(), failed.end(), 1) != failed.end()) return false;
  values.resize(at(n));
  parallel_for(threads, n, [&](index_t i) {
    const index_t from = order[at(i)] - 1;
    values[at(i)] = t.d[at(from)];
    std::copy_n(z.data() + from * n, n, work.data() + i * n);
  });
  z = std::move(work);
  return true;
}

}  // namespace ts::inline v0::ortho
