// The inside of TlsContext, for the files of this room that make connections.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "kube/net/tls/tls.hpp"

namespace kube::net {

struct TlsContext::Impl {
  explicit Impl(boost::asio::ssl::context::method method) : context(method) {}
  boost::asio::ssl::context context;
  bool verify = true;
};

}  // namespace kube::net
