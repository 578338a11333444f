// Copies bytes, as the simplest program in the middle of a stream does.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/net/transport.hpp"

namespace liqo::bench {

/// Copies until either side ends, and then closes both. It needs no half-close, because SPDY has its own.
inline boost::asio::awaitable<void> copy_bytes(kube::net::ByteStream& from, kube::net::ByteStream& to) {
  // The size of the pieces that Go's programs copy.
  std::string piece(32U << 10, '\0');
  while (true) {
    const auto count = co_await from.read_some(piece);
    if (!count || *count == 0) break;
    if (!co_await to.write(std::string_view(piece).substr(0, *count))) break;
  }
  from.close();
  to.close();
}

}  // namespace liqo::bench
