// The text by which header blocks of SPDY are compressed.
#pragma once

#include <string>

namespace kube::wire {

/// The preset dictionary of SPDY/3 (1423 bytes, Adler-32 e3c6a7c2).
const std::string& spdy_dictionary();

}  // namespace kube::wire
