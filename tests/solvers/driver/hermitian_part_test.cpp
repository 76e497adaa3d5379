// Matrices that are not quite Hermitian, and numbers that are none, in the calls of the library.
#include <cmath>
#include <numbers>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/driver/eigs.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"
#include "tallskinny/solvers/driver/svds.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using solvers::eigs, solvers::eigsh, solvers::svds, solvers::EigshOptions;
namespace allowed = test::allowed;

namespace {

EigshOptions<double> lowest() {
  EigshOptions<double> options;
  options.which = solvers::Which::SA;
  return options;
}

}  // namespace

TEST_CASE("a matrix that is Hermitian to rounding is solved as its Hermitian part, and errors count the rest") {
  auto a = generators::laplacian({400});
  for (const std::size_t e : {11u, 37u}) a.values[e] *= 1 + 1e-10;
  const auto found = eigsh(Context{}, a, 3, lowest());
  const double smallest_value = 4 * std::pow(std::sin(std::numbers::pi / 802), 2);
  CHECK(found.verified);
  CHECK(std::abs(found.values[0] - smallest_value) < allowed::fine_run);
  CHECK(found.asymmetry > 1e-11);
  CHECK(found.error_bounds[0] > 1e-11);
  CHECK(found.note.find("(A + A^H) / 2 is solved") != std::string::npos);
  a.values[11] = 4;
  CHECK(test::message_of([&] { (void)eigsh(Context{}, a, 3, lowest()); }).find("is not symmetric") !=
        std::string::npos);
  auto options = lowest();
  options.symmetrise = true;
  const auto by_name = eigsh(Context{}, a, 3, options);
  CHECK(by_name.verified);
  CHECK(by_name.error_bounds[0] < allowed::default_run);
  // Entries computed in float32 have fewer digits, so that half of them are fewer, also in a mass matrix.
  auto mass = generators::laplacian({400});
  for (double& x : mass.values) x = x > 0 ? 3 : 1;
  mass.values[1] *= 1 + 1e-6;
  options = lowest();
  options.mass = mass.view();
  const auto b = generators::laplacian({400});
  CHECK(test::message_of([&] { (void)eigsh(Context{}, b, 3, options); }).find("`mass` of eigsh() is not symmetric") ==
        0);
  options.from_float32 = true;
  CHECK(eigsh(Context{}, b, 3, options).error_bounds[0] > 0);
}

TEST_CASE("NaN is named before anything is made of a matrix") {
  auto a = Matrix<double>::zeros(5, 5);
  a(1, 2) = a(2, 1) = std::nan("");
  const std::string where = " has NaN at row 1, column 2 (counted from 0)";
  CHECK(test::message_of([&] { (void)eigsh(Context{}, a, 1); }) == "the matrix given to eigsh()" + where);
  CHECK(test::message_of([&] { (void)eigs(Context{}, a, 1); }) == "the matrix given to eigs()" + where);
  CHECK(test::message_of([&] { (void)svds(Context{}, a, 1); }) == "the matrix given to svds()" + where);
}
