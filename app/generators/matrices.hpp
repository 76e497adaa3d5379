// All generated matrices and their spectra.
#pragma once

#include "tallskinny/app/generators/classics.hpp"
#include "tallskinny/app/generators/laplacians.hpp"
#include "tallskinny/app/generators/lattices.hpp"
#include "tallskinny/app/generators/spectrum.hpp"
