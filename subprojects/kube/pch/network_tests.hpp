// Precompiled for the tests of the network room.
#pragma once

#include <doctest/doctest.h>

#include <boost/asio/ssl/context.hpp>

#include "network.hpp"
