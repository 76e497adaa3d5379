// The registered conversion of 16-bit floats: every value right, in place, and taken instead of HDF5's own.
#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/tests/io/support.hpp"

using namespace ts::io::hdf5;

namespace {

struct Format {
  unsigned mantissa_bits;
  bool big_endian;
};

Handle type_of(const Format& format) {
  Handle type = sixteen_bit_float(format.mantissa_bits);
  if (format.big_endian) H5Tset_order(type.id(), H5T_ORDER_BE);
  return type;
}

/// All 65536 bit patterns, converted by HDF5 along the path it takes.
template <class R>
std::vector<R> all_values(const Format& format, hid_t to) {
  std::vector<R> buffer(65536);
  auto* bits = reinterpret_cast<std::uint8_t*>(buffer.data());
  for (std::uint32_t i = 0; i < 65536; ++i) {
    bits[2 * i + (format.big_endian ? 1 : 0)] = static_cast<std::uint8_t>(i);
    bits[2 * i + (format.big_endian ? 0 : 1)] = static_cast<std::uint8_t>(i >> 8);
  }
  const Handle from = type_of(format);
  REQUIRE(H5Tconvert(from.id(), to, 65536, buffer.data(), nullptr, H5P_DEFAULT) >= 0);
  return buffer;
}

template <class R>
void check_all(const Format& format, hid_t to) {
  const auto values = all_values<R>(format, to);
  index_t wrong = 0;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float expected =
        format.mantissa_bits == 10 ? to_float(float16::from_bits(bits)) : to_float(bfloat16::from_bits(bits));
    const R found = values[i];
    wrong += std::isnan(expected) ? !std::isnan(found)
                                  : found != static_cast<R>(expected) || std::signbit(found) != std::signbit(expected);
  }
  INFO("mantissa " << format.mantissa_bits << " big-endian " << format.big_endian);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every 16-bit float becomes the right float and double") {
  start_library();
  for (const unsigned mantissa_bits : {10u, 7u})
    for (const bool big_endian : {false, true}) {
      check_all<float>({mantissa_bits, big_endian}, H5T_NATIVE_FLOAT);
      check_all<double>({mantissa_bits, big_endian}, H5T_NATIVE_DOUBLE);
    }
}

TEST_CASE("16-bit floats inside compounds keep their distance") {
  start_library();
  const Handle half = sixteen_bit_float(10);
  struct Wide {
    float r, i;
  };
  const Handle from = {H5Tcreate(H5T_COMPOUND, 4), H5Tclose}, to = {H5Tcreate(H5T_COMPOUND, 8), H5Tclose};
  H5Tinsert(from.id(), "r", 0, half.id()), H5Tinsert(from.id(), "i", 2, half.id());
  H5Tinsert(to.id(), "r", 0, H5T_NATIVE_FLOAT), H5Tinsert(to.id(), "i", 4, H5T_NATIVE_FLOAT);
  std::vector<Wide> buffer(1000), background(1000);
  auto* halves = reinterpret_cast<std::uint16_t*>(buffer.data());
  for (int k = 0; k < 2000; ++k) halves[k] = to_float16(static_cast<float>(k)).bits;
  REQUIRE(H5Tconvert(from.id(), to.id(), 1000, buffer.data(), background.data(), H5P_DEFAULT) >= 0);
  bool right = true;
  for (int k = 0; k < 1000; ++k)
    right &= buffer[static_cast<std::size_t>(k)].r == static_cast<float>(2 * k) &&
             buffer[static_cast<std::size_t>(k)].i == static_cast<float>(2 * k + 1);
  CHECK(right);
}

// HDF5's own takes a hundred times as long.
TEST_CASE("the registered conversion is taken where HDF5 has one of its own") {
  start_library();
  const auto conversion = [](const Handle& from, hid_t to) {
    H5T_cdata_t* data = nullptr;
    return H5Tfind(from.id(), to, &data);
  };
  const H5T_conv_t ours = conversion(sixteen_bit_float(10), H5T_NATIVE_FLOAT);
  REQUIRE(ours != nullptr);
  for (const unsigned mantissa_bits : {10u, 7u})
    for (const hid_t to : {H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE}) {
      CHECK((conversion(sixteen_bit_float(mantissa_bits), to) == ours));
      // With another bias, the type is one that only HDF5 itself converts.
      const Handle foreign = sixteen_bit_float(mantissa_bits);
      H5Tset_ebias(foreign.id(), H5Tget_ebias(foreign.id()) - 1);
      CHECK((conversion(foreign, to) != ours));
    }
}

// Not for the sanitizers: clang 14's do not take the lock of their allocator at fork().

TEST_CASE("files are opened while other threads are inside HDF5") {
  const TemporaryFolder folder;
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    const Matrix<double> a = Matrix<double>::zeros(1000, 8);
    while (!stop) {
      io::OutputFile out(folder / "out.h5", {.gzip = 1});
      for (int i = 0; i < 20; ++i) out.write("a" + std::to_string(i), a);
      out.commit();
      ++written;
    }
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (int i = 0; i < 40; ++i)
        if (table_in("dense.h5:/little_f4").rows == 0) std::abort();
    });
  for (std::thread& reader : readers) reader.join();
  while (written == 0) std::this_thread::yield();
  stop = true;
  writer.join();
  CHECK(io::read_dense_as<double>({folder / "out.h5", "/a19"}).rows() == 1000);
}
