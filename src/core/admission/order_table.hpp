// Labels and annotations of objects in twins by which controllers of this cluster take orders, and who obeys them.
// Tested by test/unit/core/admission/orders_test.cpp and test/unit/core/admission/exposure_test.cpp.
#pragma once

#include <string_view>

#include "liqo/core/admission/orders.hpp"

namespace liqo::core::admission {

enum class Metadata : std::uint8_t { labels, annotations };

/// Who obeys a key, as a person calls it ("cert-manager"); "" = nobody that is known.
std::string_view who_obeys(TwinKind kind, Metadata part, std::string_view key);

/// Whether an annotation of a Service or an Ingress only notes what a controller of its own cluster has done.
bool is_note(std::string_view key);

}  // namespace liqo::core::admission
