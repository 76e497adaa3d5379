#include "tallskinny/gemm/adaptors/dlpack.hpp"
#include "tallskinny/gemm/adaptors/eigen.hpp"
#include "tallskinny/gemm/adaptors/spans.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

/// Shaped like std::mdspan, with any strides.
template <class T>
struct Md {
  using value_type = std::remove_const_t<T>;
  T* data;
  std::array<std::size_t, 2> shape, step;
  static constexpr std::size_t rank() { return 2; }
  [[nodiscard]] std::size_t extent(std::size_t r) const { return shape[r]; }
  [[nodiscard]] std::size_t stride(std::size_t r) const { return step[r]; }
  [[nodiscard]] T* data_handle() const { return data; }
};

DLTensor tensor(void* data, DLDataType type, std::int64_t* shape, std::int64_t* strides, int device = kDLCPU) {
  return {data, {static_cast<DLDeviceType>(device), 0}, 2, type, shape, strides, 0};
}

}  // namespace

TEST_CASE("matrices of Eigen and their blocks are views in their own order, and back") {
  Eigen::MatrixXd columns(3, 2);
  columns << 1, 2, 3, 4, 5, 6;
  const auto v = view_of(columns);
  CHECK(v(2, 0) == 5);
  CHECK(v.data() == columns.data());
  CHECK_FALSE(decltype(v)::row_major);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> gram(2, 2);
  ts::gram(Context{}, Op::adjoint, 1.0, v, 0.0, view_of(gram));
  CHECK(gram(0, 1) == 44);
  CHECK(as_eigen(view_of(gram))(1, 1) == 56);
  as_eigen(v)(0, 0) = 9;
  CHECK(columns(0, 0) == 9);
  const auto block = view_of(columns.block(0, 1, 2, 1));
  CHECK((block.rows() == 2 && block.cols() == 1 && block.ld() == columns.rows() && block.data() == &columns(0, 1)));
  const Eigen::Ref<const Eigen::MatrixXd> shown(columns);
  CHECK(view_of(shown).data() == columns.data());
  static_assert(std::is_const_v<std::remove_pointer_t<decltype(view_of(shown).data())>>);
  const Eigen::Map<Eigen::MatrixXd, 0, Eigen::InnerStride<2>> gaps(columns.data(), 1, 2);
  CHECK_THROWS_AS(view_of(gaps), Error);
}

TEST_CASE("sparse matrices of Eigen are views, once they are compressed") {
  Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> wide(2, 3);
  wide.insert(0, 2) = 5;
  wide.insert(1, 0) = 7;
  CHECK_THROWS_AS(view_of(wide), Error);
  wide.makeCompressed();
  const auto v = view_of(wide);
  CHECK(v.nonzeros() == 2);
  CHECK(v.indices[0] == 2);
  CHECK(v.values == wide.valuePtr());
  Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t> usual = wide;
  std::vector<index_t> pointers;
  CHECK(view_of(usual, pointers).pointers[2] == 2);
}

TEST_CASE("spans of one and two dimensions are views; other strides are refused") {
  std::vector<double> x = {1, 2, 3, 4, 5, 6};
  CHECK(view_of(std::span(x), 2, 3)(1, 0) == 4);
  CHECK_THROWS_AS(view_of(std::span(x), 2, 2), Error);
  const Md<const double> by_rows{x.data(), {2, 2}, {3, 1}}, by_columns{x.data(), {2, 3}, {1, 2}};
  CHECK(view_of(by_rows)(1, 1) == 5);
  CHECK(view_of(by_rows).ld() == 3);
  CHECK(view_of<Layout::col_major>(by_columns)(1, 2) == 6);
  CHECK_THROWS_AS(view_of(by_columns), Error);
}

TEST_CASE("DLPack: tensors are views where type, place and strides are those asked for") {
  std::vector<double> x = {1, 2, 3, 4, 5, 6};
  std::array<std::int64_t, 2> shape = {2, 3}, strides = {1, 2};
  DLTensor plain = tensor(x.data(), dl_type<double>(), shape.data(), nullptr);
  CHECK(dl_view<double>(plain)(1, 0) == 4);
  CHECK_THROWS_AS(dl_view<float>(plain), Error);
  CHECK_THROWS_AS((dl_view<double, Space::device>(plain)), Error);
  const DLTensor by_columns = tensor(x.data(), dl_type<double>(), shape.data(), strides.data());
  CHECK((dl_view<double, Space::host, Layout::col_major>(by_columns)(1, 1)) == 4);
  CHECK(mentions(message_of([&] { (void)dl_view<double>(by_columns); }), "strides"));
  plain.byte_offset = sizeof(double), shape[1] = 2;
  CHECK(dl_view<const double>(plain)(0, 0) == 2);
  CHECK(space_of(tensor(x.data(), dl_type<double>(), shape.data(), nullptr, kDLCUDA)) == Space::device);
  CHECK_THROWS_AS(space_of(tensor(x.data(), dl_type<double>(), shape.data(), nullptr, 7)), Error);
}

TEST_CASE("DLPack: an owner leaves as a tensor, which frees it") {
  auto m = Matrix<float>::zeros(3, 2);
  m(2, 1) = 5;
  const float* const data = m.data();
  const DLOwner owner(to_dlpack(std::move(m)));
  const DLTensor& t = owner->dl_tensor;
  CHECK(t.data == data);
  CHECK(dl_view<float>(t)(2, 1) == 5);
  CHECK(holds<float>(t));
  CHECK_FALSE(holds<std::int32_t>(t));
}

TEST_CASE("DLPack: an owner in columns leaves with its strides, and a placed one wherever it is") {
  auto m = Matrix<double, Space::host, Layout::col_major>::zeros(3, 2);
  m(2, 1) = 5;
  const DLOwner owner(to_dlpack(std::move(m)));
  CHECK((owner->dl_tensor.strides[0] == 1 && owner->dl_tensor.strides[1] == 3));
  CHECK((dl_view<double, Space::host, Layout::col_major>(owner->dl_tensor)(2, 1)) == 5);
  PlacedMatrix<float> here(Matrix<float>::zeros(4, 3));
  const DLOwner placed(to_dlpack(Context{}, std::move(here)));
  CHECK((placed->dl_tensor.strides[0] == 3 && placed->dl_tensor.device.device_type == kDLCPU));
  CHECK(dl_placed<const float>(Context{}, placed->dl_tensor).host()(3, 2) == 0);
}

TEST_CASE("DLPack: a tensor on another device than the context's is refused with both numbers", "[cuda]") {
  cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  device.index = 2;
  Context ctx{.stream = cuda::Stream::rehearsing(device)};
  std::vector<double> x(6);
  std::array<std::int64_t, 2> shape = {2, 3};
  DLTensor t = tensor(x.data(), dl_type<double>(), shape.data(), nullptr, kDLCUDA);
  const auto refusal = message_of([&] { (void)dl_view<double, Space::device>(ctx, t); });
  CHECK(refusal == "a DLPack tensor is on device 0, the context on device 2: move one of them");
  CHECK_THROWS_AS(dl_placed<double>(ctx, t), Error);
  t.device.device_id = 2;
  CHECK(dl_view<double, Space::device>(ctx, t).data() == x.data());
  CHECK(dl_placed<double>(ctx, t).space() == Space::device);
  t.device = {kDLCUDAManaged, 0};
  CHECK(dl_view<double, Space::device>(ctx, t).rows() == 2);
  CHECK_THROWS_AS(
      (dl_view<double, Space::device>(Context{}, tensor(x.data(), dl_type<double>(), shape.data(), nullptr, kDLCUDA))),
      Error);
  DeviceMatrix<double> there(ctx.stream, 5, 2);
  const double* const address = there.data();
  const DLOwner owner(to_dlpack(ctx.stream, std::move(there)));
  CHECK(owner->dl_tensor.data == address);
  CHECK((owner->dl_tensor.device.device_type == kDLCUDA && owner->dl_tensor.device.device_id == 2));
  CHECK(dl_view<double, Space::device>(ctx, owner->dl_tensor).ld() == 2);
}

TEST_CASE("DLPack: numbers go to a device, out as a tensor, and back", "[gpu]") {
  Context ctx{.stream = cuda::Stream(0)};
  auto m = Matrix<double>::zeros(100, 3);
  m(99, 2) = 7;
  const DLOwner owner(to_dlpack(ctx.stream, copy_there(ctx, m)));
  Matrix<double> back(100, 3);
  copy(ctx.stream, back.view(), dl_view<const double, Space::device>(ctx, owner->dl_tensor));
  ctx.stream.synchronize();
  CHECK(back(99, 2) == 7);
}
