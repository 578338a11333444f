// The table of built-in kinds. `kinds.inc` is generated from the list in meson.build.
#include <array>

#include "core/reflection/kind.hpp"

namespace liqo::core::reflection {

#define X(kind) extern const ReflectedKind kind;
#include "kinds.inc"
#undef X

namespace {

const auto& table() {
  static const std::array kinds = {
#define X(kind) &kind,
#include "kinds.inc"
#undef X
  };
  return kinds;
}

}  // namespace

std::span<const ReflectedKind* const> reflected_kinds() { return table(); }

const ReflectedKind* find_reflected_kind(std::string_view name) {
  for (const ReflectedKind* kind : table())
    if (kind->name == name) return kind;
  return nullptr;
}

}  // namespace liqo::core::reflection
