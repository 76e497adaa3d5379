#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

namespace {

std::string page_text(const std::string& page) {
  std::ifstream in(page, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

TEST_CASE("the report is one well-formed page that needs nothing else") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap & <cube>.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--which", "SA", "-k", "7"},
                                              {"--which", "LA", "-k", "1", "--conv", "rel"},
                                              {"--which", "SA", "-k", "3", "--method", "dense"},
                                              {"--general", "--which", "LR", "-k", "2", "--tol", "1e-4"},
                                              {"--general", "--sigma", "3+0.5i", "-k", "3"},
                                              {"--which", "SA", "-k", "5", "--max-iter", "3", "--method", "lanczos"}}) {
    std::vector<std::string> arguments = {matrix, "--report", page};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const int code = tssolve(arguments).code;
    CHECK((code == 0 || code == 3));
    const auto text = page_text(page);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("<script") == std::string::npos);
    CHECK(text.find("src=") == std::string::npos);
    CHECK(text.find("href=") == std::string::npos);
    CHECK(text.find("url(") == std::string::npos);
    CHECK(text.find("<svg") != std::string::npos);
    CHECK(text.find("lap &amp; &lt;cube&gt;") != std::string::npos);
    CHECK(text.find("<td>tssolve '" + (folder / "lap &amp; &lt;cube&gt;.h5") + "' --report ") != std::string::npos);
    CHECK(text.find("tssolve (tallskinny)") != std::string::npos);
    CHECK(test::tags_are_balanced(text));
    CHECK_FALSE(std::filesystem::exists(page + ".part"));
  }
  CHECK(page_text(page).find("not converged") != std::string::npos);
  CHECK(tssolve({matrix, "--report", "/nonexistent/folder/x.html"}).code == 2);
}

TEST_CASE("the report marks an eigenvalue whose copies were cut off at the end of the set") {
  const test::TemporaryFolder folder;
  // The second smallest eigenvalue is threefold.
  const auto matrix = write_sparse(folder / "cube.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  for (const std::string count : {"3", "4"}) {
    CHECK(tssolve({matrix, "--which", "SA", "-k", count, "-q", "--report", page}).code == 0);
    const bool cut = count == "3";
    CHECK((page_text(page).find(">2 or more</text>") != std::string::npos) == cut);
    CHECK((page_text(page).find("may have more copies than the 2 found") != std::string::npos) == cut);
  }
}
