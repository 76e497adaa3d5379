// The backend of DenseSolver by cuSOLVER, whose matrices lie by columns.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/eigen/dense/backends.hpp"
#include "tallskinny/solvers/eigen/dense/cusolver_calls.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers::cusolver {

namespace {

/// T(j, i) = row(i)[j], or its conjugate, for `count` rows of n.
template <class T, class Row>
Matrix<T> transposed(const Context& ctx, index_t count, index_t n, bool conjugated, const Row& row) {
  constexpr index_t block = 32;
  Matrix<T> t(n, count);
  parallel_for(ctx.thread_count(), (n + block - 1) / block, [&](index_t piece) {
    const index_t from = piece * block, to = std::min(n, from + block);
    for (index_t first = 0; first < count; first += block)
      for (index_t j = from; j < to; ++j)
        for (index_t i = first; i < std::min(count, first + block); ++i)
          t(j, i) = conjugated ? conjugate(row(i)[j]) : row(i)[j];
  });
  return t;
}
template <class T>
Matrix<T> transposed(const Context& ctx, HostView<const T> a, bool conjugated) {
  return transposed<T>(ctx, a.rows(), a.cols(), conjugated, [&](index_t i) { return a.data() + i * a.ld(); });
}

/// Of what is not scaled, the largest number must be such that squares neither overflow nor underflow.
template <class T>
bool is_moderate(const Context& ctx, HostView<const T> a) {
  constexpr double safely = 0x1p200;
  const double largest = parallel_reduce(
      ctx.thread_count(), a.rows(), 0.0,
      [&](index_t first, index_t last) {
        double most = 0;
        for (index_t i = first; i < last; ++i)
          for (index_t j = 0; j < a.cols(); ++j) most = std::max(most, std::abs(a(i, j)));
        return most;
      },
      [](double x, double y) { return std::max(x, y); });
  return largest == 0 || (largest < safely && largest > 1 / safely);
}

std::vector<double> numbers(const Matrix<double>& row) { return {row.data(), row.data() + row.cols()}; }

/// For each value the number of the first in its unit.
std::vector<index_t> firsts_of(const WholeSpectrum& all) {
  std::vector<index_t> first;
  for (const index_t size : all.units) first.insert(first.end(), at(size), static_cast<index_t>(first.size()));
  return first;
}

template <class T>
class Backend final : public DenseSolver<T> {
 public:
  explicit Backend(cuda::Stream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] std::string by(DenseTask, index_t, index_t) const override {
    return "cuSOLVER " + cuda::version_by(library().property) + " on " + stream_.device().name;
  }
  [[nodiscard]] DenseBytes bytes(DenseTask task, index_t rows, index_t cols) const override;
  [[nodiscard]] Decomposed<ortho::HermitianPairs<T>> hermitian(const Context& ctx, HostView<const T> h, index_t wanted,
                                                               const ortho::ChoosePairs& choose) const override {
    Decomposed<ortho::HermitianPairs<T>> out;
    if (decomposed(ctx, h, out, [&](const Session& s) { return hermitian_here(s, ctx, h, choose, out.parts); }))
      return out;
    return on_processor<T>()->hermitian(ctx, h, wanted, choose);
  }
  [[nodiscard]] Decomposed<GeneralPairs> general(const Context& ctx, HostView<const T> a,
                                                 const ChooseValues& choose) const override {
    Decomposed<GeneralPairs> out;
    if (decomposed(ctx, a, out, [&](const Session& s) { return general_here(s, ctx, a, choose, out.parts); }))
      return out;
    return on_processor<T>()->general(ctx, a, choose);
  }
  [[nodiscard]] Decomposed<ortho::Svd<T>> singular(const Context& ctx, HostView<const T> a) const override {
    Decomposed<ortho::Svd<T>> out;
    if (decomposed(ctx, a, out, [&](const Session& s) { return singular_here(s, ctx, a, out.parts); })) return out;
    return on_processor<T>()->singular(ctx, a);
  }

 private:
  using Real = DeviceMatrix<double>;
  static constexpr signed char thin = 'S';

  /// f(session), unless there is nothing to do, or what cuSOLVER does not do well.
  template <class Parts, class F>
  bool decomposed(const Context& ctx, HostView<const T> a, Decomposed<Parts>& out, const F& f) const {
    if (a.empty() || !is_moderate(ctx, a)) return false;
    const Profile::Piece piece(ctx, "decomposed by cuSOLVER", {}, std::nullopt);
    bool done = false;
    const Session session(stream_);
    stream_.with_device([&] { done = f(session); });
    out.by = by({}, 0, 0);
    if (!done && ctx.log) ctx.log("cuSOLVER did not converge: the processor decomposes the matrix instead");
    return done;
  }

  // Each `with_...` has the arguments of a routine that its question for workspace shares.
  [[nodiscard]] static auto with_syevd(const Session& s, index_t n, T* a, double* w) {
    return [&s, n, a, w](auto f, auto... more) {
      return f(s.handle(), s.params(), with_vectors, upper_triangle, n, numbers_of<T>, a, n, reals, w, numbers_of<T>,
               more...);
    };
  }
  [[nodiscard]] static auto with_geev(const Session& s, index_t n, T* a, T* w, T* v) {
    return [&s, n, a, w, v](auto f, auto... more) {
      return f(s.handle(), s.params(), no_vectors, with_vectors, n, numbers_of<T>, a, n, numbers_of<T>, w,
               numbers_of<T>, static_cast<T*>(nullptr), n, numbers_of<T>, v, n, numbers_of<T>, more...);
    };
  }
  /// B of p x q, with p >= q, and what becomes of it.
  struct SvdOperands {
    index_t p, q;
    T* b = nullptr;
    double* sigma = nullptr;
    T *u = nullptr, *v = nullptr;
  };
  [[nodiscard]] static auto with_svd(const Session& s, auto job, auto more_of_it, const SvdOperands& on) {
    return [=, &s](auto f, auto... more) {
      return f(s.handle(), s.params(), job, more_of_it, on.p, on.q, numbers_of<T>, on.b, on.p, reals, on.sigma,
               numbers_of<T>, on.u, on.p, numbers_of<T>, on.v, on.q, numbers_of<T>, more...);
    };
  }
  [[nodiscard]] static auto with_getrf(const Session& s, index_t n, T* a, Size* pivots) {
    return [&s, n, a, pivots](auto f, auto... more) {
      if constexpr (std::is_same_v<decltype(f), decltype(Library::getrf)>)
        return f(s.handle(), s.params(), n, n, numbers_of<T>, a, n, pivots, numbers_of<T>, more...);
      else  // its size
        return f(s.handle(), s.params(), n, n, numbers_of<T>, a, n, numbers_of<T>, more...);
    };
  }

  bool hermitian_here(const Session&, const Context&, HostView<const T> h, const ortho::ChoosePairs&,
                      ortho::HermitianPairs<T>&) const;
  bool general_here(const Session&, const Context&, HostView<const T> a, const ChooseValues&, GeneralPairs&) const;
  /// @param w eigenvalues, or real parts and imaginary parts.
  [[nodiscard]] static WholeSpectrum spectrum_of(const Matrix<T>& w);
  /// Of the chosen; V is overwritten.
  [[nodiscard]] std::vector<double> conditions(const Session&, const DeviceMatrix<T>& v, const GeneralPairs&) const;
  bool singular_here(const Session&, const Context&, HostView<const T> a, ortho::Svd<T>&) const;

  cuda::Stream stream_;
};

template <class T>
DenseBytes Backend<T>::bytes(DenseTask task, index_t rows, index_t cols) const {
  const auto elements = [](index_t m, index_t n) { return static_cast<std::uint64_t>(m * n) * sizeof(T); };
  const index_t p = std::max(rows, cols), q = std::min(rows, cols);
  const std::uint64_t square = elements(q, q), whole = elements(rows, cols);
  const auto& routines = library();
  T* const none = nullptr;
  double* const no_reals = nullptr;
  DenseBytes out;
  const Session s(stream_);
  const auto add_workspace = [&](const auto& with, auto size) {
    Bytes there = 0, here = 0;
    stream_.with_device([&] { check(with(size, &there, &here), "tell of its workspace"); });
    out = {std::max<std::uint64_t>(out.host, here), std::max<std::uint64_t>(out.device, there)};
  };
  if (task == DenseTask::hermitian) {
    add_workspace(with_syevd(s, q, none, no_reals), routines.syevd_size);
    out.host += 3 * square, out.device += square + elements(1, q);
  } else if (task == DenseTask::general) {
    add_workspace(with_geev(s, q, none, none, none), general_library().geev_size);
    add_workspace(with_getrf(s, q, none, nullptr), routines.getrf_size);
    out.host += 6 * square + 16 * square / sizeof(T), out.device += 3 * square + elements(4, q);
  } else {
    add_workspace(with_svd(s, with_vectors, 1, {p, q}), routines.gesvdp_size);
    add_workspace(with_svd(s, thin, thin, {p, q}), routines.gesvd_size);
    out.host += 3 * whole + 2 * square, out.device += 2 * whole + square + elements(1, q);
  }
  return out;
}

template <class T>
bool Backend<T>::hermitian_here(const Session& s, const Context& ctx, HostView<const T> h,
                                const ortho::ChoosePairs& choose, ortho::HermitianPairs<T>& out) const {
  // The rows of H are the columns of its conjugate: of that the upper triangle is read, and the vectors are conjugates.
  const index_t n = h.rows();
  const auto a = sent(stream_, h);
  const Real values(stream_, 1, n);
  const auto& routines = library();
  if (!run(stream_, "find all eigenvalues", with_syevd(s, n, a.data(), values.data()), routines.syevd_size,
           routines.syevd))
    return false;
  out.values = numbers(fetched(stream_, values));
  out.chosen = choose(out.values);
  const auto k = static_cast<index_t>(out.chosen.size());
  Matrix<T> columns;
  if (2 * k < n) {
    columns = Matrix<T>(k, n);
    for (index_t c = 0; c < k; ++c)
      cuda::copy_bytes(stream_, columns.data() + c * n, a.data() + out.chosen[at(c)] * n, at(n) * sizeof(T));
    stream_.synchronize();
  } else {
    columns = fetched(stream_, a);
  }
  out.vectors = transposed<T>(ctx, k, n, true,
                              [&](index_t c) { return columns.data() + (2 * k < n ? c : out.chosen[at(c)]) * n; });
  return true;
}

template <class T>
bool Backend<T>::general_here(const Session& s, const Context& ctx, HostView<const T> a, const ChooseValues& choose,
                              GeneralPairs& out) const {
  const index_t n = a.rows();
  const DeviceMatrix<T> vectors(stream_, n, n);
  const DeviceMatrix<T> values(stream_, is_complex<T> ? 1 : 2, n);
  {
    const auto there = sent<T>(stream_, transposed(ctx, a, false).cview());
    const auto& routines = general_library();
    if (!run(stream_, "find all eigenvalues", with_geev(s, n, there.data(), values.data(), vectors.data()),
             routines.geev_size, routines.geev))
      return false;
  }
  const auto w = fetched(stream_, values);
  out.all = spectrum_of(w);
  out.chosen = choose(out.all);
  const auto k = static_cast<index_t>(out.chosen.size());
  const auto first = firsts_of(out.all);
  const auto v = fetched(stream_, vectors);  // a column of V in each row
  out.pairs.vectors = Matrix<Complex>(n, k);
  parallel_for(ctx.thread_count(), n, [&](index_t i) {
    for (index_t c = 0; c < k; ++c) {
      const index_t j = out.chosen[at(c)], of = first[at(j)];
      if constexpr (is_complex<T>)
        out.pairs.vectors(i, c) = v(j, i);
      else  // of a pair: real and imaginary part of that vector whose value stands first
        out.pairs.vectors(i, c) = std::imag(out.all.values[at(j)]) == 0
                                      ? Complex(v(j, i))
                                      : Complex(v(of, i), (w(1, of) > 0) == (j == of) ? v(of + 1, i) : -v(of + 1, i));
    }
  });
  out.pairs.conditions = conditions(s, vectors, out);
  return true;
}

template <class T>
WholeSpectrum Backend<T>::spectrum_of(const Matrix<T>& w) {
  WholeSpectrum all;
  const index_t n = w.cols();
  for (index_t j = 0; j < n;) {
    if constexpr (is_complex<T>) {
      all.values.push_back(w(0, j)), all.units.push_back(1);
    } else {
      const bool pair = w(1, j) != 0 && j + 1 < n;
      all.values.emplace_back(w(0, j), pair ? std::abs(w(1, j)) : 0), all.units.push_back(pair ? 2 : 1);
      if (pair) all.values.push_back(std::conj(all.values.back()));
    }
    j += all.units.back();
  }
  return all;
}

/// 1 / |y^H x| for y^H in the rows of V^-1, x of length one. Columns of real V are real and imaginary parts of pairs.
template <class T>
std::vector<double> Backend<T>::conditions(const Session& s, const DeviceMatrix<T>& v,
                                           const GeneralPairs& pairs) const {
  const index_t n = v.rows(), k = static_cast<index_t>(pairs.chosen.size());
  std::vector<double> lengths(at(k), inf);
  const DeviceMatrix<Size> pivots(stream_, 1, n);
  if (k == 0 || !run(stream_, "factorise eigenvectors", with_getrf(s, n, v.data(), pivots.data()), library().getrf_size,
                     library().getrf))
    return lengths;
  auto unit = Matrix<T>::zeros(k, n);
  for (index_t c = 0; c < k; ++c) unit(c, pairs.chosen[at(c)]) = 1;
  const auto rows = sent<T>(stream_, unit.cview());
  const cuda::Memory info(stream_, sizeof(int));
  check(
      library().getrs(s.handle(), s.params(), is_complex<T> ? adjoint_factors : transposed_factors, n, k, numbers_of<T>,
                      v.data(), n, pivots.data(), numbers_of<T>, rows.data(), n, static_cast<int*>(info.data())),
      "solve with eigenvectors");
  if (!is_zero(stream_, info)) return lengths;
  const auto y = fetched(stream_, rows);
  const auto first = firsts_of(pairs.all);
  for (index_t c = 0; c < k; ++c) {
    double squares = 0;
    for (index_t i = 0; i < n; ++i) squares += std::norm(y(c, i));
    lengths[at(c)] = std::sqrt(squares);
    if (const index_t j = pairs.chosen[at(c)]; first[at(j)] != j)  // the second of a pair stands behind the first
      lengths[at(c)] = lengths[at(c - 1)] = std::hypot(lengths[at(c)], lengths[at(c - 1)]) / 2;
  }
  return lengths;
}

template <class T>
bool Backend<T>::singular_here(const Session& s, const Context& ctx, HostView<const T> a, ortho::Svd<T>& out) const {
  // B = A, or A^T if that is tall; its columns in rows.
  const bool tall = a.rows() >= a.cols();
  const Matrix<T> turned = tall ? transposed(ctx, a, false) : Matrix<T>();
  const HostView<const T> columns = tall ? turned.cview() : a;
  const index_t p = columns.cols(), q = columns.rows();
  const DeviceMatrix<T> left(stream_, q, p), right(stream_, q, q);
  const Real sigma(stream_, 1, q);
  const auto by = [&](auto job, auto more_of_it, auto size, auto routine, auto... more) {
    const auto there = sent(stream_, columns);
    const auto with = with_svd(s, job, more_of_it, {p, q, there.data(), sigma.data(), left.data(), right.data()});
    return run(stream_, "find singular values", with, size, routine, more...);
  };
  const auto& routines = library();
  // The polar decomposition is the faster one, and moves singular values near zero by what it tells.
  double moved = 0;
  bool polar = by(with_vectors, 1, routines.gesvdp_size, routines.gesvdp, &moved);
  out.values = numbers(fetched(stream_, sigma));
  polar = polar && std::abs(moved) <= static_cast<double>(p) * unit_roundoff * out.values.front();
  if (!polar) {
    if (!by(thin, thin, routines.gesvd_size, routines.gesvd)) return false;
    out.values = numbers(fetched(stream_, sigma));
  }
  // A = B^T = conj(V) Sigma U^T
  auto u = transposed<T>(ctx, fetched(stream_, left).cview(), !tall);
  auto v = polar ? transposed<T>(ctx, fetched(stream_, right).cview(), !tall) : fetched(stream_, right);
  if (!polar && tall)
    for (index_t i = 0; i < q * q; ++i) v.data()[i] = conjugate(v.data()[i]);  // it is V^H, by columns
  out.u = std::move(tall ? u : v), out.v = std::move(tall ? v : u);
  return true;
}

}  // namespace

}  // namespace ts::inline v0::solvers::cusolver

namespace ts::inline v0::solvers {

template <class T>
std::unique_ptr<const DenseSolver<T>> by_cusolver(const cuda::Stream& stream) {
  return std::make_unique<cusolver::Backend<T>>(stream);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, by_cusolver)

}  // namespace ts::inline v0::solvers
