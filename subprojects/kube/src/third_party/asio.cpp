// Asio, compiled once for everybody.
#include <boost/asio/impl/src.hpp>
