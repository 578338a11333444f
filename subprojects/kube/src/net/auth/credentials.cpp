#include "kube/net/auth/credentials.hpp"

#include <sys/stat.h>

#include <optional>

#include "kube/async/event.hpp"
#include "kube/base/text.hpp"
#include "kube/net/read_file.hpp"

namespace kube::net {

namespace {

constexpr std::chrono::seconds look_interval{10};
/// A plugin that has failed is left alone for so long: it may have asked a person for a password.
constexpr std::chrono::seconds failure_memory{5};

/// One piece of text that is given inline, or lies in a file that may change.
class Source {
 public:
  Source() = default;
  Source(std::string inline_text, std::string path) : text_(std::move(inline_text)), path_(std::move(path)) {}

  /// Reads the file if it has changed since the last look; true if the text is another one now. A failure leaves the
  /// text as it was.
  Result<bool> refresh() {
    if (path_.empty()) return false;
    struct stat now{};
    // A rotated volume of Kubernetes swaps a symbolic link, so that the file behind the path is another one.
    if (::stat(path_.c_str(), &now) == 0 && seen_ && seen_->st_ino == now.st_ino && seen_->st_size == now.st_size &&
        seen_->st_mtim.tv_sec == now.st_mtim.tv_sec && seen_->st_mtim.tv_nsec == now.st_mtim.tv_nsec)
      return false;
    KUBE_TRY(text, read_file(path_));
    seen_ = now;
    const bool changed = text != text_;
    text_ = std::move(text);
    return changed;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string path_;
  std::optional<struct stat> seen_;
};

/// A token as it may be put into a header: without the line break that editors leave after it.
std::string header_value(std::string_view text) { return std::string(trim(text, " \t\r\n")); }

}  // namespace

struct Credentials::Impl {
  Impl(wire::ClusterConfig given, async::Clock& time) : config(std::move(given)), clock(time) {
    // Inline data wins over the file beside it; a token file wins over the token (as kubectl has it).
    const auto source = [](const std::string& text, const std::string& path) {
      return Source(text, text.empty() ? path : "");
    };
    ca = source(config.ca_pem, config.ca_file);
    certificate = source(config.client_certificate_pem, config.client_certificate_file);
    key = source(config.client_key_pem, config.client_key_file);
    bearer = Source(config.token, config.token_file);
  }

  Result<TlsContext> make_tls() const {
    return TlsContext::client({.ca_pem = ca.text(),
                               .certificate_pem = certificate.text(),
                               .key_pem = key.text(),
                               .verify = !config.insecure_skip_tls_verify});
  }

  Result<void> start() {
    if (config.exec && !plugin)
      return fail(Errc::unsupported,
                  "user '" + config.user + "' needs an exec plugin, which this program does not run");
    for (Source* each : {&ca, &certificate, &key, &bearer}) KUBE_TRYV(each->refresh());
    KUBE_TRY(context, make_tls(), "cluster '" + config.cluster + "'");
    tls = std::move(context);
    token = header_value(bearer.text());
    looked = clock.now();
    return {};
  }

  void look() {
    const TimePoint now = clock.now();
    if (now - looked < look_interval) return;
    looked = now;
    if (auto changed = bearer.refresh(); changed && *changed) token = header_value(bearer.text());
    for (Source* each : {&ca, &certificate, &key})
      if (auto changed = each->refresh(); changed && *changed) stale = true;
    if (!stale) return;
    // Certificate and key are two files, so for a moment they may not belong together: then the next look decides.
    if (auto context = make_tls()) {
      tls = std::move(*context);
      stale = false;
      ++generation;
    }
  }

  /// What a plugin gave, in place of what was there before.
  Result<void> accept(wire::ExecCredential given) {
    const bool has_certificate = !given.certificate_pem.empty();
    if (has_certificate && (given.certificate_pem != certificate.text() || given.key_pem != key.text())) {
      const Source old_certificate = std::exchange(certificate, Source(given.certificate_pem, ""));
      const Source old_key = std::exchange(key, Source(given.key_pem, ""));
      auto context = make_tls();
      if (!context) {
        certificate = old_certificate;
        key = old_key;
        return fail(std::move(context.error()), "user '" + config.user + "': what the exec plugin gave");
      }
      tls = std::move(*context);
      ++generation;
    }
    token = std::move(given.token);
    expires = given.expires;
    ++issue;
    return {};
  }

  bool is_ready() const { return !plugin || (issue > 0 && !refused && !(expires && clock.wall() >= *expires)); }

  wire::ClusterConfig config;
  async::Clock& clock;
  std::unique_ptr<CredentialPlugin> plugin;
  std::shared_ptr<async::Event> asking;  ///< set when the plugin has answered
  std::optional<WallTime> expires;
  std::optional<Failure> failure;  ///< of the plugin
  TimePoint failed;
  std::uint64_t issue = 0;
  bool refused = false;  ///< by the server
  Source ca, certificate, key, bearer;
  std::optional<TlsContext> tls;
  std::string token;
  TimePoint looked;
  bool stale = false;
  std::uint64_t generation = 1;
};

Credentials::Credentials(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Credentials::~Credentials() = default;

Result<std::shared_ptr<Credentials>> Credentials::make(wire::ClusterConfig config, async::Clock& clock,
                                                       std::unique_ptr<CredentialPlugin> plugin) {
  auto impl = std::make_unique<Impl>(std::move(config), clock);
  if (impl->config.exec) impl->plugin = std::move(plugin);
  KUBE_TRYV(impl->start());
  return std::shared_ptr<Credentials>(new Credentials(std::move(impl)));
}

Result<void> Credentials::replace(wire::ClusterConfig config) {
  if (impl_->plugin) return fail(Errc::unsupported, "credentials of an exec plugin are not replaced by others");
  auto next = std::make_unique<Impl>(std::move(config), impl_->clock);
  KUBE_TRYV(next->start());
  next->generation = impl_->generation + 1;
  impl_ = std::move(next);
  return {};
}

bool Credentials::is_ready() const { return impl_->is_ready(); }
std::uint64_t Credentials::issue() const { return impl_->issue; }

asio::awaitable<Result<void>> Credentials::ready() {
  Impl& impl = *impl_;
  while (!impl.is_ready()) {
    if (const auto asking = impl.asking) {
      co_await asking->wait();
      continue;
    }
    if (impl.failure && impl.clock.now() - impl.failed < failure_memory) co_return std::unexpected(*impl.failure);
    // The caller that asks may be cancelled: then one of those who wait asks in its place.
    struct AtEnd {
      std::shared_ptr<async::Event>& asking;
      ~AtEnd() {
        asking->set();
        asking.reset();
      }
    };
    impl.asking = std::make_shared<async::Event>(co_await asio::this_coro::executor);
    const AtEnd at_end{impl.asking};
    wire::ClusterConfig config = impl.config;
    config.ca_pem = impl.ca.text();
    auto given = co_await impl.plugin->ask(std::move(config));
    auto accepted = given ? impl.accept(std::move(*given)) : Result<void>(std::unexpected(std::move(given.error())));
    if (!accepted) {
      impl.failure = accepted.error();
      impl.failed = impl.clock.now();
      co_return accepted;
    }
    impl.failure.reset();
    impl.refused = false;
    co_return Result<void>();  // even if it has expired already: the server decides
  }
  co_return Result<void>();
}

asio::awaitable<bool> Credentials::renew(std::uint64_t issue) {
  if (!impl_->plugin) co_return false;
  if (issue == impl_->issue) impl_->refused = true;
  const auto renewed = co_await ready();
  co_return renewed.has_value();
}

const wire::ClusterConfig& Credentials::config() const { return impl_->config; }

const TlsContext& Credentials::tls() {
  impl_->look();
  return *impl_->tls;
}

std::uint64_t Credentials::generation() {
  impl_->look();
  return impl_->generation;
}

const std::string& Credentials::token() {
  impl_->look();
  return impl_->token;
}

}  // namespace kube::net
