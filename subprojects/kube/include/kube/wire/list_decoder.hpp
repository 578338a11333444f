// The body of a list, in pieces of any size: parsed as it arrives, so that no turn of the loop parses it all. Pure.
#pragma once

#include <boost/json/stream_parser.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace kube::wire {

/// One page of a list.
struct ListPage {
  json::array items;             ///< objects; built-in kinds leave out apiVersion and kind
  json::array too_deep;          ///< objects that are nested deeper than max_object_depth, without what lies there
  std::string resource_version;  ///< of the list as a whole
  std::string continue_token;    ///< "" on the last page
};

class DeepCut;

/// Parses one page incrementally. Use once.
class ListDecoder {
 public:
  /// Pages of more than `max_bytes` are refused.
  explicit ListDecoder(std::size_t max_bytes = 256u << 20);
  ~ListDecoder();

  /// Errors: Errc::parse, Errc::too_large.
  Result<void> feed(std::string_view bytes);
  /// Call when the body has ended. Errors: Errc::parse when it was cut short or is not a list.
  Result<ListPage> finish();

 private:
  json::stream_parser parser_;
  std::unique_ptr<DeepCut> cut_;
  std::string piece_;
  std::size_t received_ = 0, max_bytes_;
};

}  // namespace kube::wire
