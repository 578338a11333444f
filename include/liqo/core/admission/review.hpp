// The names of kube::admission and kube::json that the rules of this folder use.
#pragma once

#include "kube/k8s/admission.hpp"

namespace liqo::core::admission {

namespace json = kube::json;

using namespace kube::admission;

}  // namespace liqo::core::admission
