// The headers of plain text, which is all that a kubelet answers beside JSON.
#pragma once

#include "kube/net/http/plain_text.hpp"

namespace liqo::kubelet {

/// `more` and these. What a provider or a pod has written is in the text: no browser is to guess that it is something
/// else.
inline kube::net::ServerResponse::Headers plain_text_headers(kube::net::ServerResponse::Headers more = {}) {
  more.emplace_back("content-type", kube::net::plain_text_type);
  more.emplace_back("x-content-type-options", "nosniff");
  return more;
}

/// The headers of text for Prometheus, likewise.
inline kube::net::ServerResponse::Headers metrics_text_headers() {
  return {{"content-type", kube::net::metrics_text_type}, {"x-content-type-options", "nosniff"}};
}

}  // namespace liqo::kubelet
