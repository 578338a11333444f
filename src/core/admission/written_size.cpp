#include "core/admission/written_size.hpp"

#include <array>

#include "liqo/api/kinds.hpp"

namespace liqo::core::admission {
namespace {

/// Bytes of a value's text, which is not kept.
std::size_t text_bytes(const json::value& value) {
  json::serializer serializer;
  serializer.reset(&value);
  std::array<char, 4096> piece;
  std::size_t bytes = 0;
  while (!serializer.done()) bytes += serializer.read(piece.data(), piece.size()).size();
  return bytes;
}

}  // namespace

std::size_t written_bytes(const json::object& tree) {
  std::size_t bytes = 0;
  for (const std::string_view field : {"labels", "annotations", "ownerReferences"})
    if (const json::value* value = kube::find(tree, {"metadata", field})) bytes += text_bytes(*value);
  if (const json::value* spec = tree.if_contains("spec")) bytes += text_bytes(*spec);
  return bytes;
}

Answer check_written(const Request& request) {
  if (!request.writes_object()) return Answer::allow();
  const std::size_t max_bytes = request.plural == api::kinds::namespace_maps.plural ? max_written_map : max_written;
  const std::size_t bytes = written_bytes(request.object.tree());
  if (bytes <= max_bytes || bytes <= written_bytes(request.old_object.tree())) return Answer::allow();
  return Answer::deny("the labels, annotations and spec of " + known_as(request, request.plural) + " have " +
                      std::to_string(bytes) + " bytes, and a consumer may write " + std::to_string(max_bytes) +
                      " of them: make the consumer's own object smaller");
}

}  // namespace liqo::core::admission
