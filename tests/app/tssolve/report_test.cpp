#include "tallskinny/tests/app/tssolve/runs.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("the report is one well-formed page that needs nothing else") {
  const test::TemporaryFolder folder;
  const auto matrix = write_sparse(folder / "lap & <cube>.h5", generators::laplacian({10, 10, 10}));
  const std::string page = folder / "run.html";
  const auto text_of = [&] {
    std::ifstream in(page, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
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
    const auto text = text_of();
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("<script") == std::string::npos);
    CHECK(text.find("src=") == std::string::npos);
    CHECK(text.find("href=") == std::string::npos);
    CHECK(text.find("url(") == std::string::npos);
    CHECK(text.find("<svg") != std::string::npos);
    CHECK(text.find("lap &amp; &lt;cube&gt;") != std::string::npos);
    CHECK(test::tags_are_balanced(text));
    CHECK_FALSE(std::filesystem::exists(page + ".part"));
  }
  CHECK(text_of().find("not converged") != std::string::npos);
  CHECK(tssolve({matrix, "--report", "/nonexistent/folder/x.html"}).code == 2);
}
