#include "tallskinny/app/tsbench/ortho_measure.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"

namespace ts::bench {

namespace {

/// For small matrices; the bits are those of any number of threads.
Context on_one_thread() {
  Context ctx;
  ctx.threads = 1;
  return ctx;
}

}  // namespace

bool OrthoAccuracy::passes() const {
  return loss <= accepted && (outcome.complete || std::isinf(accepted));  // NaN never passes
}

OrthoAccuracy measure_ortho_accuracy(const ortho::NamedMethod& method, const generators::HardMatrix& matrix,
                                     std::size_t number) {
  constexpr index_t width = 5;
  const Context ctx = on_one_thread();
  auto x = Matrix<double>::copy_of(matrix.x.cview());
  Matrix<double> r(x.cols(), x.cols());
  OrthoAccuracy result;
  result.outcome = ortho::orthonormalise<double>(ctx, method, x.view(), r.view(), width);
  result.loss = ortho::loss_of_orthogonality<double>(ctx, x.cview().cols(0, result.outcome.rank));
  result.accepted = generators::accepted_loss(method.name, number);
  return result;
}

OrthoCounts count_ortho(const ortho::NamedMethod& method) {
  constexpr index_t rows = 400, width = 4, blocks = 12;
  const auto work_of = [&](index_t columns) {
    auto x = generators::random_block<double>(rows, columns, 1);
    Matrix<double> r(columns, columns);
    return ortho::orthonormalise<double>(on_one_thread(), method, x.view(), r.view(), width).work;
  };
  if (std::holds_alternative<ortho::Muscle>(method.how)) return {work_of(width).reductions, 0};
  const auto before = work_of(blocks * width), after = work_of((blocks + 1) * width);
  return {after.reductions - before.reductions,
          static_cast<double>(after.basis_columns - before.basis_columns) / (blocks * width)};
}

bool is_reference(const ortho::NamedMethod& method) {
  return method.name.find("HQR") != std::string_view::npos || method.name == "HouseholderQR";
}

std::uint64_t OrthoBench::bytes(const OrthoSize& size) {
  return 2 * sizeof(double) * static_cast<std::uint64_t>(size.rows) * static_cast<std::uint64_t>(size.columns);
}

OrthoBench::OrthoBench(const OrthoSize& size)
    : size_(size), source_(generators::random_block<double>(size.rows, size.columns, 1)), x_(size.rows, size.columns) {}

OrthoSpeed OrthoBench::measure(const ortho::NamedMethod& method) {
  Context ctx;
  ctx.threads = size_.threads;
  const bool whole = std::holds_alternative<ortho::Skeleton>(method.how);
  const index_t columns = whole ? size_.columns : std::min(size_.width, size_.columns);
  const auto elements = static_cast<std::size_t>(size_.rows * size_.columns);
  const HostView<double> x(x_.data(), size_.rows, columns);
  Matrix<double> r(columns, columns);
  OrthoSpeed best;
  for (int k = 0; k < size_.repetitions; ++k) {
    if (k == 0)
      app::measure_roofs({source_.data(), elements / 512 * 512}, {x_.data(), elements / 512 * 512}, ctx.thread_count(),
                         roofs_);
    std::copy_n(source_.data(), size_.rows * columns, x.data());
    const Stopwatch watch;
    const auto outcome = ortho::orthonormalise<double>(ctx, method, x, r.view(), size_.width);
    const double seconds = watch.seconds();
    if (!outcome.complete)
      throw Error(Errc::device_failure,
                  std::string(method.name) + " broke down on a random matrix; the machine computes wrongly");
    if (k > 0 && seconds >= best.seconds) continue;
    best.seconds = seconds;
    best.bytes = outcome.work.bytes();
    // What is written is held against a copy, the rest against reading alone.
    const double copied = 2 * outcome.work.written_bytes;
    best.roof_seconds =
        copied / roofs_.copy_bytes_per_second + std::max(0.0, best.bytes - copied) / roofs_.read_bytes_per_second;
  }
  return best;
}

}  // namespace ts::bench
