#include "upgrade_attempts.hpp"

#include <numeric>
#include <optional>
#include <random>

#include "kube/base/base64.hpp"
#include "kube/k8s/status.hpp"
#include "kube/wire/websocket_codec.hpp"

namespace kube {
namespace {

/// Roles that lack a right to GET rarely get it.
constexpr std::chrono::hours manners_last{1};

Failure refusal(const net::Upgraded& answer) {
  return Failure::from_status(read_status(answer.head.status, answer.refusal, answer.head.header("retry-after")));
}

// True for what a server would also answer to another protocol.
bool is_final(const Failure& failure) {
  const int code = failure.http_code();
  return code == 401 || code == 404 || code == 429;
}

}  // namespace

std::uint32_t entropy_of_the_system() {
  static std::random_device device;
  return device();
}

std::string ask_for_websocket(HttpRequest& request, std::string_view protocols,
                              const std::function<std::uint32_t()>& entropy) {
  std::string nonce;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t number = entropy();
    nonce.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  std::string key = encode_base64(nonce);
  request.headers.emplace_back("upgrade", "websocket");
  request.headers.emplace_back("sec-websocket-version", "13");
  request.headers.emplace_back("sec-websocket-key", key);
  request.headers.emplace_back("sec-websocket-protocol", protocols);
  return key;
}

Result<void> check_websocket_answer(const net::ResponseHead& head, std::string_view key) {
  if (head.header("sec-websocket-accept") != wire::websocket_accept(key)) {
    return fail(Errc::protocol, "the server's WebSocket handshake does not answer ours");
  }
  return {};
}

asio::awaitable<Result<GrantedUpgrade>> ask_for_upgrade(net::Upgrader& upgrader, async::Clock& clock,
                                                        std::vector<HttpRequest> attempts, Duration dial_timeout) {
  std::vector<std::size_t> order(attempts.size());
  std::iota(order.begin(), order.end(), 0);
  if (clock.now() < upgrader.manners().no_get_until) std::swap(order[0], order[1]);

  std::optional<Failure> refused;
  bool is_get_forbidden = false;
  for (const std::size_t attempt : order) {
    const bool is_get = attempts[attempt].method == "GET";
    KUBE_CO_TRY(answer, co_await upgrader.upgrade(std::move(attempts[attempt]), clock.deadline_in(dial_timeout)));
    if (!answer.stream) {
      Failure failure = refusal(answer);
      if (is_final(failure)) co_return std::unexpected(std::move(failure));
      is_get_forbidden = is_get_forbidden || (is_get && failure.is_forbidden());
      // The refusal of SPDY is what to report: every server speaks it.
      if (!is_get || !refused) refused = std::move(failure);
      continue;
    }
    if (is_get)
      upgrader.manners().no_get_until = {};
    else if (is_get_forbidden)
      upgrader.manners().no_get_until = clock.now() + manners_last;
    co_return GrantedUpgrade{attempt, std::move(answer.head), std::move(answer.stream)};
  }
  co_return std::unexpected(std::move(*refused));
}

}  // namespace kube
