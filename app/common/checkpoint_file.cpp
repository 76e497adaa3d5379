#include "tallskinny/app/common/checkpoint_file.hpp"

#include <utility>

#include "tallskinny/io/write/new_file.hpp"

namespace ts::app {

namespace {

std::string signature_of(const std::string& program, int version) {
  return "tallskinny checkpoint of " + program + ", version " + std::to_string(version);
}

const std::string what_to_do = "remove it, name another --checkpoint, or start over with --restart";

}  // namespace

void add_checkpoint_options(Options& options, CheckpointOptions& target) {
  options
      .file("checkpoint", "FILE.h5", target.file,
            "save the state of the run in this file, also when a signal stops it. The same command resumes it, with "
            "the result of an uninterrupted run; the file is removed when the run has finished. A file that is not a "
            "checkpoint of this run is refused and left unchanged")
      .value("every", "SECONDS", target.every, "time between writes of the checkpoint", at_least(0.0))
      .flag("restart", target.restart, "start over, and replace the existing checkpoint");
}

CheckpointFile::CheckpointFile(std::string program, int version, CheckpointOptions options, Console& console)
    : program_(std::move(program)),
      signature_(signature_of(program_, version)),
      options_(std::move(options)),
      console_(console) {
  if (!asked_for() || !std::filesystem::exists(options_.file)) return;
  const auto is = [&](const std::string& signature) {
    return io::state_of_seal(options_.file, signature, false) != io::SealState::foreign;
  };
  resumes_ = written_ = !options_.restart;
  if (is(signature_)) return;
  for (int earlier = version - 1; earlier > 0; --earlier)
    if (is(signature_of(program_, earlier))) {
      if (options_.restart) return;
      refuse("is a checkpoint of an earlier " + program_ + " (version " + std::to_string(earlier) +
             " of the format; this one reads version " + std::to_string(version) + ")");
    }
  throw Error(Errc::bad_input,
              options_.file + " is not a checkpoint of " + program_ +
                  " (or one of another version) and is left unchanged: remove it, or name another --checkpoint");
}

void CheckpointFile::expect_whole() const {
  if (io::state_of_seal(options_.file, signature_) != io::SealState::whole)
    refuse("is damaged: its checksum does not match its content");
}

void CheckpointFile::refuse(const std::string& why, Errc code) const {
  throw Error(code, options_.file + " " + why + "; " + what_to_do);
}

void CheckpointFile::write(const std::function<void(io::OutputFile&)>& fill) {
  since_ = {};
  try {
    io::OutputFile out(options_.file, {.gzip = 0, .signature = signature_});
    fill(out);
    out.commit();
    written_ = true;
  } catch (const Error& error) {
    if (!std::exchange(warned_, true))
      console_.warn(std::string("the checkpoint was not written; the run continues and will try again: ") +
                    error.what());
  }
  since_ = {};
}

void CheckpointFile::remove() const {
  std::error_code ignored;
  if (written_) std::filesystem::remove(io::behind_links(options_.file), ignored);
}

}  // namespace ts::app
