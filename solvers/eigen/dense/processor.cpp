#include <algorithm>
#include <optional>

#include "tallskinny/gemm/runtime/openblas.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/dense/backends.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
class Processor final : public DenseSolver<T> {
 public:
  [[nodiscard]] std::string by(DenseTask task, index_t rows, index_t cols) const override {
    const std::string library = has_lapack(rows, cols) ? lapack_name() : "Eigen";
    return task == DenseTask::general ? "the Schur form, " + library : library;
  }

  [[nodiscard]] DenseBytes bytes(DenseTask task, index_t rows, index_t cols) const override {
    const auto matrix = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
    // The matrix, T and U, as Eigen has them and in complex numbers.
    if (task == DenseTask::general) return {matrix * 80};
    return {matrix * sizeof(T) * 4};
  }

  [[nodiscard]] Decomposed<ortho::HermitianPairs<T>> hermitian(const Context& ctx, HostView<const T> h, index_t wanted,
                                                               const ortho::ChoosePairs& choose) const override {
    const Profile::Piece piece(ctx, work_of(h), {}, std::nullopt);
    return {ortho::hermitian_pairs<T>(ctx, h, wanted, choose), by(DenseTask::hermitian, h.rows(), h.cols())};
  }

  [[nodiscard]] Decomposed<GeneralPairs> general(const Context& ctx, HostView<const T> a,
                                                 const ChooseValues& choose) const override {
    std::optional<Profile::Piece> piece(std::in_place, ctx, work_of(a), Cost{}, std::nullopt);
    const Schur schur = schur_of<T>(a);
    piece.reset();
    GeneralPairs out;
    for (index_t i = 0; i < schur.size(); ++i) out.all.values.push_back(schur.value(i));
    out.all.units = schur.units;
    out.chosen = choose(out.all);
    out.pairs = eigenvectors_of(schur, out.chosen, ctx.thread_count());
    return {std::move(out), by(DenseTask::general, a.rows(), a.cols())};
  }

  [[nodiscard]] Decomposed<ortho::Svd<T>> singular(const Context& ctx, HostView<const T> a) const override {
    const Profile::Piece piece(ctx, work_of(a), {}, std::nullopt);
    return {ortho::svd<T>(a), by(DenseTask::singular, a.rows(), a.cols())};
  }

 private:
  static bool has_lapack(index_t rows, index_t cols) {
    return std::min(rows, cols) > ortho::own_columns && lapack_library().loaded();
  }
  static std::string_view work_of(HostView<const T> a) {
    return has_lapack(a.rows(), a.cols()) ? "decomposed by LAPACK" : "decomposed by Eigen";
  }
};

}  // namespace

template <class T>
std::unique_ptr<const DenseSolver<T>> on_processor() {
  return std::make_unique<Processor<T>>();
}

template <class T>
std::unique_ptr<const DenseSolver<T>> dense_solver(const cuda::Stream& stream, Space space, DenseTask task) {
  const bool on_device = space == Space::device && stream && stream.rehearsal() == nullptr;
  return on_device && has_cusolver(task) ? by_cusolver<T>(stream) : on_processor<T>();
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, on_processor)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, dense_solver)

}  // namespace ts::inline v0::solvers
