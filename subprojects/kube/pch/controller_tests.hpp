// Precompiled for the tests of all that waits.
#pragma once

#include <doctest/doctest.h>

#include "controllers.hpp"
#include "kube/testing/sim/simulator.hpp"
