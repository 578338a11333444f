// Precompiled for the tests of pure functions.
#pragma once

#include <doctest/doctest.h>

#include "objects.hpp"
