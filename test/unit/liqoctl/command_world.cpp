#include "command_world.hpp"

#include <ctime>
#include <iterator>
#include <memory>
#include <regex>
#include <stdexcept>
#include <utility>

#include "commands/commands.hpp"
#include "core/offloading/daemon_sets.hpp"
#include "kube/base/text.hpp"
#include "kube/base/url.hpp"
#include "liqo/api/kinds.hpp"
#include "session/run_command.hpp"

namespace liqoctl::test {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

/// The kinds that commands request besides those of every server.
constexpr kube::Resource served[] = {
    kinds::virtual_nodes,
    kinds::shadow_pods,
    kinds::shadow_endpoint_slices,
    kinds::namespace_maps,
    kinds::namespace_offloadings,
    kinds::quotas,
    kinds::vk_options_templates,
    kinds::foreign_clusters,
    kinds::tenants,
    kinds::identities,
    kinds::resource_slices,
    kinds::renews,
    kinds::ips,
    kinds::networks,
    kinds::configurations,
    kinds::roles,
    kinds::cluster_roles,
    kinds::service_cidrs,
    kinds::network_policies,
    kinds::runtime_classes,
    kinds::limit_ranges,
    kinds::volumes,
    kinds::storage_classes,
    kinds::custom_resource_definitions,
    kinds::api_services,
    kinds::mutating_configurations,
    kinds::validating_configurations,
    liqo::core::daemon_sets,
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"},
};

class TestTerminal final : public Terminal {
 public:
  TestTerminal(TerminalTraits traits, std::string typed) : traits_(traits), input_(std::move(typed)) {}

  TerminalTraits traits() const override { return traits_; }
  void print(std::string_view text) override { out += text; }
  void print_error(std::string_view text) override { err += text; }
  asio::awaitable<std::string> read_line() override {
    std::string line;
    std::getline(input_, line);
    co_return line;
  }
  std::istream& input() override { return input_; }

  std::string out, err;

 private:
  TerminalTraits traits_;
  std::istringstream input_;
};

/// "Thu, 01 Jan 2026 00:00:00 GMT".
std::string http_date(kube::WallTime time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch() / std::chrono::seconds(1);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

class WholeBody final : public kube::net::Body {
 public:
  explicit WholeBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<kube::Result<std::string>> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// The body of a list that begins and does not end.
class EndlessBody final : public kube::net::Body {
 public:
  explicit EndlessBody(kube::async::Clock& clock) : clock_(clock) {}
  asio::awaitable<kube::Result<std::string>> read() override {
    if (!std::exchange(has_begun_, true)) co_return R"({"kind":"List","apiVersion":"v1","metadata":{},"items":[)";
    co_await clock_.sleep(std::chrono::milliseconds(100));
    co_return " ";
  }

 private:
  kube::async::Clock& clock_;
  bool has_begun_ = false;
};

kube::net::Response refused(int code, std::string reason, std::string message = {}) {
  const kube::testing::Refusal refusal{
      .code = code, .reason = std::move(reason), .message = std::move(message), .details = {}};
  return {.head = {.status = code, .headers = {{"content-type", "application/json"}}},
          .body = std::make_unique<WholeBody>(json::serialize(refusal.document()))};
}

/// The link to a cluster, with the behaviour that the test has set.
class TestConnection final : public Connection, public kube::net::Transport, public kube::net::Upgrader {
 public:
  explicit TestConnection(TestCluster& cluster) : cluster_(cluster), link_(cluster.link()) {}

  kube::net::Transport& transport() override { return *this; }
  kube::net::Upgrader& upgrader() override { return *this; }
  asio::awaitable<void> stop() override { co_return; }

  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    const std::string path(kube::path_of(request.target));
    if (request.method == "GET") {
      cluster_.asked.push_back(path);
      if (cluster_.before_reading) cluster_.before_reading(path);
      if (cluster_.broken.contains(path)) co_return kube::fail(Errc::closed, "the connection was closed");
      if (cluster_.forbidden.contains(path)) co_return refused(403, "Forbidden");
      if (cluster_.endless.contains(path))
        co_return kube::net::Response{.head = {.status = 200, .headers = {{"content-type", "application/json"}}},
                                      .body = std::make_unique<EndlessBody>(cluster_.world().simulator().clock())};
    }
    if (cluster_.is_locked) co_return refused(401, "Unauthorized");
    if (request.method == "PUT" && !cluster_.unreviewed.empty()) co_return not_reviewed();
    auto answer = co_await link_.send(std::move(request), deadline);
    if (answer)
      answer->head.headers.emplace_back("date",
                                        http_date(cluster_.world().simulator().clock().wall() + cluster_.ahead));
    co_return answer;
  }
  asio::awaitable<kube::Result<kube::net::Upgraded>> upgrade(kube::HttpRequest, kube::Deadline) override {
    co_return kube::fail(Errc::unsupported, "no pod of a test runs commands");
  }

 private:
  kube::net::Response not_reviewed() const {
    const std::string& webhook = cluster_.unreviewed;
    return refused(500, "",
                   "Internal error occurred: failed calling webhook \"" + webhook +
                       "\": failed to call webhook: Post \"https://liqod.liqo.svc:443/" + webhook +
                       "?timeout=10s\": dial tcp 10.96.0.9:443: connect: connection refused");
  }

  TestCluster& cluster_;
  kube::testing::SimTransport link_;
};

/// The way to an address where no server listens.
class NoConnection final : public Connection, public kube::net::Transport, public kube::net::Upgrader {
 public:
  explicit NoConnection(std::string address) : address_(std::move(address)) {}

  kube::net::Transport& transport() override { return *this; }
  kube::net::Upgrader& upgrader() override { return *this; }
  asio::awaitable<void> stop() override { co_return; }
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest, kube::Deadline) override {
    co_return kube::fail(Errc::connect, "connecting to " + address_ + ": Connection refused");
  }
  asio::awaitable<kube::Result<kube::net::Upgraded>> upgrade(kube::HttpRequest, kube::Deadline) override {
    co_return kube::fail(Errc::connect, "connecting to " + address_ + ": Connection refused");
  }

 private:
  std::string address_;
};

void merge(json::object& into, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      into.erase(key);
    } else if (value.is_object()) {
      merge(kube::ensure_object(into, key), value.get_object());
    } else {
      into[key] = value;
    }
  }
}

asio::awaitable<void> note_code(Session& session, Run command, int& code) {
  code = co_await run_command(session, std::move(command));
}

}  // namespace

json::value parsed(std::string_view text) {
  auto value = kube::parse_json(text);
  if (!value) throw std::logic_error("no JSON: " + std::string(text));
  return std::move(*value);
}

bool has_line(const std::string& text, const std::string& begin) {
  const std::regex wanted(begin);
  for (const std::string_view line : kube::split(text, '\n'))
    if (std::regex_search(line.begin(), line.end(), wanted, std::regex_constants::match_continuous)) return true;
  return false;
}

std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string_view line : kube::split(text, '\n')) {
    std::istringstream stream{std::string(line)};
    lines.emplace_back(std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>());
  }
  return lines;
}

Done CommandWorld::run(Run command, const CommonFlags& flags) {
  TestTerminal terminal(traits, typed);
  const Connect connect =
      [this](const std::shared_ptr<kube::net::Credentials>& credentials) -> std::unique_ptr<Connection> {
    const std::string address = credentials->config().server.host_port();
    const auto found = clusters_.find(address);
    if (found == clusters_.end() || found->second->is_gone) return std::make_unique<NoConnection>(address);
    found->second->tokens.insert(credentials->config().token);
    return std::make_unique<TestConnection>(*found->second);
  };
  Session session({.clock = simulator_.clock(), .terminal = terminal, .connect = connect, .seed = 1}, flags);
  int code = -1;
  simulator_.run(note_code(session, std::move(command), code));
  return {code, terminal.out, terminal.err};
}

Done CommandWorld::run(Run command, const TestCluster& home) {
  CommonFlags flags;
  flags.local.kubeconfig = home.kubeconfig();
  return run(std::move(command), flags);
}

Done CommandWorld::run(std::string_view words) {
  TestTerminal terminal(traits, typed);
  CommandLine line("liqoctl", terminal);
  add_commands(line);
  std::vector<std::string> parts{"liqoctl"};
  for (const std::string_view word : kube::split(words, ' ')) parts.emplace_back(word);
  std::vector<char*> arguments;
  for (std::string& part : parts) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  auto read = line.parse(static_cast<int>(parts.size()), arguments.data());
  if (!read.run) return {read.code, terminal.out, terminal.err};
  return run(std::move(read.run), line.flags());
}

Done CommandWorld::run(std::string_view words, const TestCluster& home) {
  return run(std::string(words) + " --kubeconfig " + home.kubeconfig());
}

Done CommandWorld::run(std::string_view words, const TestCluster& home, const TestCluster& provider) {
  return run(std::string(words) + " --remote-kubeconfig " + provider.kubeconfig(), home);
}

TestCluster::TestCluster(CommandWorld& world, std::string name)
    : world_(world),
      name_(std::move(name)),
      address_("127.0.0.1:" + std::to_string(6443 + world.clusters_.size())),
      server_(world.simulator_.clock(), std::hash<std::string>()(name_)),
      link_(world.simulator_, server_, "liqoctl") {
  for (const kube::Resource& kind : served) server_.serve(kind);
  world.clusters_[address_] = this;
  write_kubeconfig();
  add_id();
}

void TestCluster::add_id() {
  add(kube::resources::config_maps, cluster_id, R"({"data": {"CLUSTER_ID": ")" + name_ + R"("}})");
}

void TestCluster::write_kubeconfig(std::string_view user, std::string_view cluster_name) const {
  const std::string name(cluster_name.empty() ? std::string_view(name_) : cluster_name);
  const json::object cluster{{"name", name}, {"cluster", json::object{{"server", "http://" + address_}}}};
  const json::object context{{"name", name_}, {"context", json::object{{"cluster", name}, {"user", name_}}}};
  const json::object document{{"kind", "Config"},
                              {"apiVersion", "v1"},
                              {"clusters", json::array{cluster}},
                              {"users", json::array{json::object{{"name", name_}, {"user", parsed(user)}}}},
                              {"contexts", json::array{context}},
                              {"current-context", name_}};
  world_.files().write(name_ + ".yaml", json::serialize(document));
}

void TestCluster::add(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view rest) {
  json::object tree = kube::Object::make(resource, key).tree();
  json::object& metadata = kube::ensure_object(tree, "metadata");
  metadata["uid"] = server_.store().new_uid();
  metadata["creationTimestamp"] = kube::format_time(world_.simulator().clock().wall());
  merge(tree, parsed(rest).as_object());
  server_.store().put(server_.store().table(resource), std::move(tree), "test");
}

void TestCluster::change(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view patch) {
  json::object tree = get(resource, key).tree();
  merge(tree, parsed(patch).as_object());
  server_.store().put(server_.store().table(resource), std::move(tree), "test");
}

void TestCluster::remove(const kube::Resource& resource, const kube::ObjectKey& key) {
  server_.store().erase(server_.store().table(resource), key, "test");
}

bool TestCluster::has(const kube::Resource& resource, const kube::ObjectKey& key) {
  return server_.get(resource, key) != nullptr;
}

kube::Object TestCluster::get(const kube::Resource& resource, const kube::ObjectKey& key) {
  const auto tree = server_.get(resource, key);
  if (!tree) throw std::logic_error("there is no " + std::string(resource.kind) + " " + key.text());
  return kube::Object(*tree);
}

std::string TestCluster::add_tenant_namespace(const std::string& peer) {
  std::string ns = "liqo-tenant-" + peer;
  add(kube::resources::namespaces, {"", ns},
      R"({"metadata": {"labels": {"liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": ")" + peer +
          R"("}}})");
  return ns;
}

}  // namespace liqoctl::test
