// Copies bytes, as the least program in the middle of a stream does.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/net/transport.hpp"

namespace liqo::bench {

/// Until either side ends; then both are closed, since neither says half of a goodbye: SPDY has its own.
inline boost::asio::awaitable<void> copy_bytes(kube::net::ByteStream& from, kube::net::ByteStream& to) {
  // What Go's programs copy at a time.
  std::string piece(32U << 10, '\0');
  for (;;) {
    const auto count = co_await from.read_some(piece);
    if (!count || *count == 0) break;
    if (!co_await to.write(std::string_view(piece).substr(0, *count))) break;
  }
  from.close();
  to.close();
}

}  // namespace liqo::bench
