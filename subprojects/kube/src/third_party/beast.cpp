// Beast, compiled once for everybody.
#include <boost/beast/src.hpp>
