// Reading the `Status` object of an unsuccessful answer, for programs that send requests by a net::Transport
// themselves: Api does so for its verbs.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"
#include "kube/base/memory_account.hpp"
#include "kube/base/status.hpp"

namespace kube {

/// The longest pause that is taken from a server; a longer one is shortened to it.
inline constexpr std::chrono::seconds max_retry_after{300};

/// Makes a Status from an HTTP answer. `body` may be a `Status` document, other text, or garbage: text is cut to 512
/// bytes and made printable, and so is a document for which the account has no memory left. `retry_after` is the
/// header's value in seconds, "" if absent; what is read of it is at most max_retry_after.
Status read_status(int http_code, std::string_view body, std::string_view retry_after = {},
                   const std::shared_ptr<MemoryAccount>& account = MemoryAccount::of_process());

/// Makes a Status from a parsed `Status` document, e.g. of a watch event of type ERROR.
Status read_status(const json::value& document);

}  // namespace kube
