// Precompiled for the one room that may include Beast and TLS.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>

#include "coroutines.hpp"
