// Asio's TLS half, compiled once for everybody.
#include <boost/asio/ssl/impl/src.hpp>
