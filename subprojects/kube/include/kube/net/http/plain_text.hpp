// Answers in plain text: their content types, and a sentence as an answer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>

#include "kube/net/http/http_server.hpp"

namespace kube::net {

inline constexpr const char* plain_text_type = "text/plain; charset=utf-8";
/// The content type of the text in which Prometheus reads metrics (kube/wire/metrics_text.hpp).
inline constexpr const char* metrics_text_type = "text/plain; version=0.0.4; charset=utf-8";

/// Answers with a sentence and a line end; `more` are further headers. A failure is ignored, because a caller that has
/// gone needs no answer.
inline asio::awaitable<void> send_text(ServerResponse& response, int status, std::string sentence,
                                       ServerResponse::Headers more = {}) {
  more.emplace(more.begin(), "content-type", plain_text_type);
  static_cast<void>(co_await response.send(status, std::move(more), std::move(sentence) + "\n"));
}

}  // namespace kube::net
