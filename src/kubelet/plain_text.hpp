// The headers of plain text, the only other content type of a kubelet besides JSON.
#pragma once

#include "kube/net/http/plain_text.hpp"

namespace liqo::kubelet {

/// `more` and the headers of plain text. The text comes from a provider or a pod, so browsers are forbidden to guess
/// another type.
inline kube::net::ServerResponse::Headers plain_text_headers(kube::net::ServerResponse::Headers more = {}) {
  more.emplace_back("content-type", kube::net::plain_text_type);
  more.emplace_back("x-content-type-options", "nosniff");
  return more;
}

/// The headers of text for Prometheus; browsers are forbidden to guess another type.
inline kube::net::ServerResponse::Headers metrics_text_headers() {
  return {{"content-type", kube::net::metrics_text_type}, {"x-content-type-options", "nosniff"}};
}

}  // namespace liqo::kubelet
