#include "tallskinny/app/common/completion.hpp"

#include <sstream>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::app;

namespace {

std::vector<std::string> words_of(const std::string& value_name) {
  Options::Entry entry;
  entry.value_name = value_name;
  return completions_of(entry).words;
}

bool takes_files(const std::string& value_name) {
  Options::Entry entry;
  entry.value_name = value_name;
  return completions_of(entry).files;
}

struct Probe {
  int end = 0;
  std::string output, init = "random";
  bool quiet = false;
  Options options{
      {"tsprobe", "Probes it.", "FILE [options]", {{"All of it", "tsprobe a.h5"}}, ".a note's\n  as it is"}};

  Probe() {
    options.choice("end,e", end, "which [end]: of 'it'", {{"LA", 0}, {"SA", 1}})
        .custom("output,o", "FILE.h5", output, "a file", "a file", [](std::string_view) { return true; })
        .custom("init", "k-means++|k-means|||random|FILE", init, "first", "it", [](std::string_view) { return true; })
        .flag("quiet", quiet, "say less");
  }
  [[nodiscard]] std::string script(const char* shell) const {
    std::ostringstream out;
    options.print_completion(out, shell);
    return out.str();
  }
};

}  // namespace

TEST_CASE("words and files that may follow an option are read from the name of its value") {
  using Words = std::vector<std::string>;
  CHECK(words_of("auto|cpu|cuda[:I,...|:all]") == Words{"auto", "cpu", "cuda"});
  CHECK(words_of("k-means++|k-means|||random|FILE") == Words{"k-means++", "k-means||", "random"});
  CHECK(words_of("LA|SA|BE") == Words{"LA", "SA", "BE"});
  CHECK(words_of("N|A:B|A:B:STEP").empty());
  CHECK(words_of("").empty());
  CHECK(takes_files("FILE[:/OBJECT]"));
  CHECK(takes_files("none|FILE"));
  CHECK_FALSE(takes_files("COUNT"));
  Options::Entry choice;
  choice.value_name = "LA|SA", choice.words = {"LA", "SA"};
  CHECK(completions_of(choice).words == Words{"LA", "SA"});
}

TEST_CASE("scripts of all shells have every option, its words, and files where there may be some") {
  const Probe probe;
  CHECK(probe.script("bash").find("-e|--end) words='LA SA' ;;") != std::string::npos);
  CHECK(probe.script("bash").find("--init) words='k-means++ k-means|| random' files=yes ;;") != std::string::npos);
  CHECK(probe.script("bash").ends_with("complete -o filenames -F _tsprobe tsprobe\n"));
  CHECK(probe.script("zsh").starts_with("#compdef tsprobe\n"));
  CHECK(probe.script("zsh").find("'(-e --end)'{-e,--end}'[which \\[end\\]]:end:(LA SA)'") != std::string::npos);
  CHECK(probe.script("zsh").find("'(-o --output)'{-o,--output}'[a file]:output:_files'") != std::string::npos);
  CHECK(probe.script("fish").find("complete -c tsprobe -l end -s e -x -a 'LA SA' -d 'which [end]'\n") !=
        std::string::npos);
  CHECK(probe.script("fish").find("complete -c tsprobe -l quiet -d 'say less'\n") != std::string::npos);
  CHECK_THROWS_AS(probe.script("csh"), Error);
}

TEST_CASE("a page for man has the options, and no text is taken for a request") {
  std::ostringstream out;
  Probe().options.print_man(out);
  const std::string page = out.str();
  CHECK(page.starts_with(".TH TSPROBE 1 "));
  CHECK(page.find(".TP\n\\fB\\-e\\fR, \\fB\\-\\-end\\fR \\fILA|SA\\fR\n") != std::string::npos);
  CHECK(page.find("\n\\&.a note's\n.PP\n.EX\n  as it is\n.EE\n") != std::string::npos);
  CHECK(page.find(".SH EXAMPLES\n") != std::string::npos);
}
