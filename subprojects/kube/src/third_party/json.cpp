// Boost.JSON, compiled once for everybody.
#include <boost/json/src.hpp>
