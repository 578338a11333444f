// Notes for whoever uses a Service or an Ingress on its copy, as the provider has stored that.
// Tested by test/unit/core/reflection/copy_notes_test.cpp.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// One sentence for an Event on the object at home.
struct CopyNote {
  std::string_view about;  ///< what it is about, which no other note of the object is; a literal
  bool is_warning = true;  ///< it works less well there than at home
  std::string words;
};

/// How long a copy may wait for an address before that is reported.
inline constexpr kube::Duration address_patience = std::chrono::minutes(2);

/// What the copy of a Service does in another way: it lacks IP families of the original, or its traffic stays on the
/// provider's own nodes.
std::vector<CopyNote> notes_on_service(const kube::Object& local, const kube::Object& copy,
                                       const core::ForgingContext& ctx);
/// What the copy of an Ingress does in another way: it has no class.
std::vector<CopyNote> notes_on_ingress(const kube::Object& local, const kube::Object& copy,
                                       const core::ForgingContext& ctx);

/// What to say of a copy that has waited `address_patience` for an address of a load balancer; "" = it waits for none.
std::string unserved_service(const kube::Object& local, const kube::Object& copy, const core::ForgingContext& ctx);
/// What to say of a copy that has waited `address_patience` for an address of the controller of its class; "" = it
/// waits for none, or has no class.
std::string unserved_ingress(const kube::Object& local, const kube::Object& copy, const core::ForgingContext& ctx);

}  // namespace liqo::core::reflection
