// Which options go together, and what they decide of each other.
#pragma once

#include "tallskinny/app/tssolve/words.hpp"

namespace ts::app::tssolve {

/// What the command line says beside Settings.
struct Given {
  const Word* word = word_named("LM");  ///< --which
  std::optional<double> threshold;
  bool tol = false;
};

/// Completes the settings. @throws Error(invalid_argument) naming the options that exclude each other.
void check_settings(Settings& settings, const Given& given);

}  // namespace ts::app::tssolve
