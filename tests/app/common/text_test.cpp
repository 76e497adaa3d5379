#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/completion.hpp"
#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

namespace {

using Words = std::vector<std::string>;

/// The text of each of these.
template <class T, class F>
Words each(F&& told, std::initializer_list<T> all) {
  Words words;
  for (const T& x : all) words.push_back(told(x));
  return words;
}

auto completions(const std::string& value_name) {
  Options::Entry entry;
  entry.value_name = value_name;
  return completions_of(entry);
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

TEST_CASE("bytes, durations and numbers read well") {
  CHECK(each<std::uint64_t>(human_bytes, {0, 1023, 1536, (1u << 20) - 1, 12ull << 30, UINT64_MAX}) ==
        Words{"0 B", "1023 B", "1.50 KiB", "1.00 MiB", "12.0 GiB", "16.0 EiB"});
  CHECK(each<double>(human_seconds, {0, 0.0123, 1.25, 185, 7800, std::numeric_limits<double>::infinity()}) ==
        Words{"0 us", "12 ms", "1.25 s", "3 min 05 s", "2 h 10 min", "?"});
  CHECK(each<std::int64_t>(grouped, {0, -1234567, 999, 1000}) == Words{"0", "-1,234,567", "999", "1,000"});
  CHECK(short_number(0.1) == "0.1");
}

TEST_CASE("words for a shell are quoted where they must be") {
  CHECK(each<const char*>(shell_word, {"-k", "a/b.h5:/x", "", "k-means||", "it's"}) ==
        Words{"-k", "a/b.h5:/x", "''", "'k-means||'", "'it'\\''s'"});
}

TEST_CASE("the progress line shows what is done and the time taken, within the terminal") {
  CHECK(progress_line("reading", 2, 80) == "reading  2.00 s");
  CHECK(progress_line("starting", 0.2, 80) == "starting  200 ms");
  for (std::size_t width = 0; width < 200; ++width)
    for (const std::size_t words : {0, 5, 40, 200})
      CHECK(progress_line(std::string(words, 'x'), 100, width).size() + (width > 0 ? 1 : 0) <= width);
  const std::string text = "start 10 of 20, 1,024 clusters, iteration 123 of at most 300, 1,234,567 labels changed";
  const std::string line = progress_line(text, 4000, 80);
  CHECK(line.size() == 79);
  CHECK(line.ends_with("...  1 h 06 min"));
  // A character of several bytes is not cut.
  for (std::size_t width = 12; width < 30; ++width) {
    const std::string cut =
        progress_line("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 1, width);
    CHECK_FALSE(mentions(cut, "\xc3."));
    CHECK_FALSE(mentions(cut, "\xc3 "));
  }
}

TEST_CASE("iterations are told with their bound and what each takes, from the first one of a start on") {
  Pace pace;
  CHECK(pace.text(1, 300) == "iteration 1 of at most 300");
  const std::string third = pace.text(3, 300);
  CHECK(third.starts_with("iteration 3 of at most 300, "));
  CHECK(third.ends_with(" each"));
  CHECK(pace.text(2, 0) == "iteration 2");  // of another start
  CHECK(pace.text(1003, 0).starts_with("iteration 1,003, "));
}

TEST_CASE("JSON keeps the order of members and the bits of numbers") {
  JsonObject inner;
  inner.add("b", 1).add("a", true);
  JsonObject json;
  json.add("values", std::vector<double>{0.1, 1e300, 1.0 / 3})
      .add("count", std::int64_t{9007199254740993})
      .add("name", "a \"quoted\" text")
      .add("inner", inner)
      .add("list", std::vector<JsonObject>{inner})
      .add("nan", std::numeric_limits<double>::quiet_NaN())
      .add_null("nothing");
  CHECK(json.text(-1) ==
        R"({"values":[0.1,1e+300,0.3333333333333333],"count":9007199254740993,"name":"a \"quoted\" text",)"
        R"("inner":{"b":1,"a":true},"list":[{"b":1,"a":true}],"nan":null,"nothing":null})");
}

TEST_CASE("JSON survives names that are not UTF-8") {
  JsonObject json;
  json.add("file", std::string("a\xff") + "b");
  CHECK(json.text(-1) ==
        "{\"file\":\"a\xEF\xBF\xBD"
        "b\"}");
}

TEST_CASE("the help page fits 80 columns whatever the texts") {
  CommonOptions common;
  double tolerance = 1e-8;
  std::string matrix;
  Options options({"tsprobe",
                   "A summary that is rather long and goes on and on until it would not fit a terminal's line.",
                   "MATRIX [options]",
                   {{"An example with a long comment that explains at length what this command is good for.",
                     "tsprobe file.h5:/matrix --tolerance-of-everything 1e-3"}},
                   "A note of several sentences. It has to be broken into lines as well, however long it is."});
  options.positional("MATRIX", matrix, "FILE or FILE.h5:/path, in any of the formats that tsdata info knows");
  options.group("Numbers").value("tolerance-of-everything,t", "REAL", tolerance,
                                 "a help text that is longer than the room to the right of the names");
  options.group("Machine");
  add_machine_options(options, common);
  add_seed_option(options, common);
  options.group("Output");
  add_report_options(options, common);
  add_output_options(options, common, "write the result here");

  std::ostringstream out;
  options.print_help(out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
  for (const char* part :
       {"Usage: tsprobe MATRIX [options]", "\nNumbers:\n", "\nMachine:\n", "-t, ", "(default: 1e-08)", "--device",
        "--threads", "--seed", "--output", "--dry-run", "Examples:", "several sentences"}) {
    INFO(part);
    CHECK(mentions(out.str(), part));
  }
}

TEST_CASE("text is wrapped between words") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("  a   longwordhere b ", 4) == std::vector<std::string>{"a", "longwordhere", "b"});
  CHECK(wrap("", 10).empty());
}

TEST_CASE("words and files that may follow an option are read from the name of its value") {
  CHECK(completions("auto|cpu|cuda[:I,...|:all]").words == Words{"auto", "cpu", "cuda"});
  CHECK(completions("k-means++|k-means|||random|FILE").words == Words{"k-means++", "k-means||", "random"});
  CHECK(completions("LA|SA|BE").words == Words{"LA", "SA", "BE"});
  for (const char* name : {"N|A:B|A:B:STEP", ""}) CHECK(completions(name).words.empty());
  for (const char* name : {"FILE[:/OBJECT]", "none|FILE"}) CHECK(completions(name).files);
  CHECK_FALSE(completions("COUNT").files);
  Options::Entry choice;
  choice.value_name = "LA|SA", choice.words = {"LA", "SA"};
  CHECK(completions_of(choice).words == Words{"LA", "SA"});
}

TEST_CASE("scripts of all shells have every option, its words, and files where there may be some") {
  const Probe probe;
  CHECK(mentions(probe.script("bash"), "-e|--end) words='LA SA' ;;"));
  CHECK(mentions(probe.script("bash"), "--init) words='k-means++ k-means|| random' files=yes ;;"));
  CHECK(probe.script("bash").ends_with("complete -o filenames -F _tsprobe tsprobe\n"));
  CHECK(probe.script("zsh").starts_with("#compdef tsprobe\n"));
  CHECK(mentions(probe.script("zsh"), "'(-e --end)'{-e,--end}'[which \\[end\\]]:end:(LA SA)'"));
  CHECK(mentions(probe.script("zsh"), "'(-o --output)'{-o,--output}'[a file]:output:_files'"));
  CHECK(mentions(probe.script("fish"), "complete -c tsprobe -l end -s e -x -a 'LA SA' -d 'which [end]'\n"));
  CHECK(mentions(probe.script("fish"), "complete -c tsprobe -l quiet -d 'say less'\n"));
  CHECK_THROWS_AS(probe.script("csh"), Error);
}

TEST_CASE("a page for man has the options, and no text is taken for a request") {
  std::ostringstream out;
  Probe().options.print_man(out);
  const std::string page = out.str();
  CHECK(page.starts_with(".TH TSPROBE 1 "));
  CHECK(mentions(page, ".TP\n\\fB\\-e\\fR, \\fB\\-\\-end\\fR \\fILA|SA\\fR\n"));
  CHECK(mentions(page, "\n\\&.a note's\n.PP\n.EX\n  as it is\n.EE\n"));
  CHECK(mentions(page, ".SH EXAMPLES\n"));
}
