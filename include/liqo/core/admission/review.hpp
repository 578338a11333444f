// An AdmissionReview, in the words in which the rules of this story speak of it.
#pragma once

#include "kube/k8s/admission.hpp"

namespace liqo::core::admission {

namespace json = kube::json;

using namespace kube::admission;

}  // namespace liqo::core::admission
