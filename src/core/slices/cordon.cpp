#include "core/slices/cordon.hpp"

#include "liqo/api/annotations.hpp"

namespace liqo::core {

namespace {

bool has_mark(const kube::Object& slice, std::string_view mark) {
  if (!slice.has_annotation(mark)) return false;
  const std::string_view value = slice.annotation(mark);
  return value != "false" && value != "False" && value != "0";
}

}  // namespace

bool is_cordoned(const kube::Object& slice) {
  return has_mark(slice, api::annotations::cordon) || has_mark(slice, api::annotations::cordon_tenant) ||
         has_mark(slice, api::annotations::cordoned_resource);
}

bool is_drained(const kube::Object& slice) { return has_mark(slice, api::annotations::drain); }

}  // namespace liqo::core
