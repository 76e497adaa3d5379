// Dense to sparse and back.
#pragma once

#include <string>

#include "tallskinny/app/tsdata/write.hpp"

namespace ts::tsdata {

enum class Storage { as_it_is, dense, sparse };

/// @throws Error(invalid_argument) for a 16-bit matrix that should become sparse, Error(out_of_memory) before
/// a dense matrix is made that does not fit. `name` is what the sentence calls the matrix.
AnyMatrix stored_as(AnyMatrix matrix, Storage storage, const std::string& name);

}  // namespace ts::tsdata
