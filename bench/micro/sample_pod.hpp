// A pod as an API server sends it, which is most of the bytes that liqod reads.
#pragma once

#include <string>

namespace bench {

/// The JSON text (about 4 KiB) of pod number `number`, with that resourceVersion.
std::string sample_pod(int number, int version = 1);

}  // namespace bench
