// Credentials that a program of the user's makes: how it is run, what becomes of its faults, and when it is run again.
#include "kube/net/auth/exec_plugin.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "../http/client_pair.hpp"
#include "support/temporary_directory.hpp"

namespace kube::test {

namespace {

const std::string v1 = "client.authentication.k8s.io/v1";

/// A directory with a script as plugin, which keeps count of how often it was run.
class Plugin {
 public:
  explicit Plugin(const std::string& body) {
    std::ofstream(path()) << "#!/bin/sh\necho run >> '" << runs_file() << "'\n" << body << "\n";
    REQUIRE(chmod(path().c_str(), 0700) == 0);
  }

  std::string path() const { return directory_.at("plugin"); }
  const std::string& directory() const { return directory_.path(); }
  int runs() const {
    std::ifstream file(runs_file());
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  wire::ClusterConfig config() const {
    wire::ClusterConfig config;
    config.server.host = "h";
    config.user = "me";
    config.exec.emplace();
    config.exec->api_version = v1;
    config.exec->command = path();
    return config;
  }

 private:
  std::string runs_file() const { return directory_.at("runs"); }

  const TemporaryDirectory directory_;
};

/// A shell command that answers with this status, in which the shell may put variables.
std::string answer(const std::string& status) {
  return "cat <<END\n{\"apiVersion\":\"" + v1 + "\",\"kind\":\"ExecCredential\",\"status\":" + status + "}\nEND";
}

asio::awaitable<std::string> token_of(wire::ClusterConfig config, ExecPluginOptions options = {}) {
  ExecPluginRunner runner(real, options);
  auto given = co_await runner.ask(std::move(config));
  if (!given) co_return std::string(to_string(given.error().code())) + ": " + given.error().text();
  co_return given->token;
}

std::string token_at(wire::ClusterConfig config, ExecPluginOptions options = {}) {
  std::string token;
  run([](wire::ClusterConfig given, ExecPluginOptions how, std::string& out) -> asio::awaitable<void> {
    out = co_await token_of(std::move(given), how);
  }(std::move(config), options, token));
  return token;
}

}  // namespace

TEST_CASE("an exec plugin gets its arguments and variables, and no input where nobody can be asked") {
  const Plugin plugin("read -r line && exit 1\ninfo=$(echo \"$KUBERNETES_EXEC_INFO\" | tr -dc a-z)\n" +
                      answer(R"({"token":"$1-$A-$HOME-$info"})"));
  auto config = plugin.config();
  config.exec->args = {"one; exit 1"};
  config.exec->env = {{"A", "a"}, {"HOME", "here"}, {"KUBERNETES_EXEC_INFO", "not this"}};
  const std::string spaces = token_at(config);
  CHECK(spaces == "invalid_input: exec plugin '" + plugin.path() + "': its token has characters that no token has");
  config.exec->args = {"$(one)"};
  CHECK(token_at(config) == "$(one)-a-here-apiersionclientauthenticationksiovkindxecredentialspecinteractivefalse");
}

TEST_CASE("the host program keeps its handler of SIGCHLD while an exec plugin runs, and after it") {
  static volatile std::sig_atomic_t ends = 0;
  struct sigaction mine{}, before{}, after{};
  mine.sa_handler = [](int) { ends = ends + 1; };
  REQUIRE(sigaction(SIGCHLD, &mine, &before) == 0);
  const Plugin plugin("sleep 0.1\n" + answer(R"({"token":"t"})"));
  CHECK(token_at(plugin.config()) == "t");
  REQUIRE(sigaction(SIGCHLD, &before, &after) == 0);
  CHECK((after.sa_handler == mine.sa_handler));
  CHECK(ends > 0);
}

TEST_CASE("an exec plugin without a slash in its name is looked for in PATH") {
  const Plugin plugin(answer(R"({"token":"t"})"));
  auto config = plugin.config();
  const std::string path = getenv("PATH");
  config.exec->command = "plugin";
  config.exec->install_hint = "Install it\nfrom there.\n";
  CHECK(token_at(config) == "missing: exec plugin 'plugin' is not found in PATH; Install it from there.");
  setenv("PATH", (".:" + plugin.directory() + ":" + path).c_str(), 1);
  CHECK(token_at(config) == "t");
  setenv("PATH", path.c_str(), 1);
  config.exec->command = plugin.directory() + "/nothing";
  CHECK(token_at(config) == "missing: exec plugin '" + plugin.directory() +
                                "/nothing' cannot be run: No such file or directory; Install it from there.");
}

TEST_CASE("an exec plugin that fails, hangs, or does not stop talking is told as such") {
  struct Case {
    std::string body;
    std::string told;
  };
  const Case cases[] = {
      {"exit 3", "invalid_input: exec plugin '@' ended with exit code 3"},
      {"kill -9 $$", "invalid_input: exec plugin '@' was ended by signal 9"},
      {"echo nonsense", "parse: exec plugin '@': its answer is not a JSON document"},
      {"exec sleep 100", "timeout: exec plugin '@' has not ended within 1 s, and was killed"},
      {"exec 1>&-; exec sleep 100", "timeout: exec plugin '@' has not ended within 1 s, and was killed"},
      {"exec head -c 10000000 /dev/zero", "too_large: exec plugin '@' answers more than 1 MiB"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.body);
    const Plugin plugin(test.body);
    std::string told = test.told;
    told.replace(told.find('@'), 1, plugin.path());
    CHECK(token_at(plugin.config(), {.timeout = 1s}) == told);
  }
}

TEST_CASE("an exec plugin talks to somebody only at a terminal, and as its mode says") {
  using enum wire::ExecPlugin::Interactive;
  struct Case {
    wire::ExecPlugin::Interactive mode;
    bool terminal;
    std::string told;
  };
  const Case cases[] = {
      {never, false, "false"},
      {never, true, "false"},
      {if_available, false, "false"},
      {if_available, true, "true"},
      {always, true, "true"},
      {always, false, "unsupported: exec plugin '@' wants to talk to somebody: run this at a terminal"}};
  const Plugin plugin("said=$(echo \"$KUBERNETES_EXEC_INFO\" | grep -o 'true\\|false')\n" +
                      answer(R"({"token":"$said"})"));
  for (const Case& test : cases) {
    CAPTURE(int(test.mode));
    CAPTURE(test.terminal);
    auto config = plugin.config();
    config.exec->interactive = test.mode;
    std::string told = test.told;
    if (const auto at = told.find('@'); at != std::string::npos) told.replace(at, 1, plugin.path());
    CHECK(token_at(config, {.terminal = test.terminal}) == told);
  }
}

TEST_CASE("an exec plugin that nobody waits for any longer is ended") {
  const Plugin plugin("echo $$ > \"$0.pid\"; exec sleep 100");
  run([](const Plugin& hanging) -> asio::awaitable<void> {
    async::TaskGroup group(co_await asio::this_coro::executor);
    const auto ask_it = [](wire::ClusterConfig config) -> asio::awaitable<void> {
      const std::string token = co_await token_of(std::move(config));
      CHECK(token == "never got here");
    };
    group.spawn(ask_it(hanging.config()));
    pid_t pid = 0;
    co_await wait_until([&] { return bool(std::ifstream(hanging.path() + ".pid") >> pid); });
    CHECK(kill(pid, 0) == 0);
    co_await group.stop();
    CHECK(kill(pid, 0) != 0);
  }(plugin));
}

TEST_CASE("who gives no plugin runner runs no programs") {
  const Plugin plugin(answer(R"({"token":"t"})"));
  const auto refused = Credentials::make(plugin.config(), real);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == Errc::unsupported);
  CHECK(plugin.runs() == 0);
}

namespace {

/// A server, and a client whose credentials a plugin makes.
struct PluginPair {
  KeyAndCertificate identity = self_signed();
  TlsH2Server server;
  std::shared_ptr<Credentials> credentials;
  HttpClient client;

  static std::shared_ptr<Credentials> made(wire::ClusterConfig config) {
    auto credentials = Credentials::make(std::move(config), real, std::make_unique<ExecPluginRunner>(real));
    REQUIRE(credentials.has_value());
    return *credentials;
  }
  PluginPair(const asio::any_io_executor& executor, const Plugin& plugin)
      : server(executor, identity), credentials(made(config(plugin))), client(executor, real, credentials) {
    server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      connection.h2.answer(id, 200, request.headers.at("authorization"));
    };
  }
  wire::ClusterConfig config(const Plugin& plugin) const {
    auto config = config_for(server.port(), identity.certificate_pem);
    config.exec = plugin.config().exec;
    return config;
  }
  asio::awaitable<void> stop() {
    co_await client.stop();
    co_await server.stop();
  }
};

/// The token counts the runs.
const std::string counted = "n=$(wc -l < \"${0%/*}/runs\")\n";

}  // namespace

TEST_CASE("an exec plugin is asked once for many requests at a time") {
  const Plugin plugin(counted + answer(R"({"token":"token-$n"})"));
  run([](const Plugin& given) -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    PluginPair pair(executor, given);
    async::TaskGroup group(executor);
    std::string answers[5];
    for (std::string& each : answers) group.spawn(ask_into(pair.client, request_for("/"), each));
    co_await group.join();
    for (const std::string& each : answers) CHECK(each == "200 Bearer token-1");
    CHECK(given.runs() == 1);
    co_await pair.stop();
  }(plugin));
}

TEST_CASE("an exec plugin is asked again once what it gave has expired") {
  const Plugin plugin(counted + "year=1999; [ $n -gt 1 ] && year=2999\n" +
                      answer(R"({"token":"token-$n","expirationTimestamp":"$year-01-01T00:00:00Z"})"));
  run([](const Plugin& given) -> asio::awaitable<void> {
    PluginPair pair(co_await asio::this_coro::executor, given);
    std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 Bearer token-1");
    for (int i = 0; i < 3; ++i) {
      answer = co_await ask(pair.client, request_for("/"));
      CHECK(answer == "200 Bearer token-2");
    }
    CHECK(given.runs() == 2);
    co_await pair.stop();
  }(plugin));
}

TEST_CASE("an exec plugin is asked once more for a request that was refused, and no second time") {
  const Plugin plugin(counted + answer(R"({"token":"token-$n"})"));
  run([](const Plugin& given) -> asio::awaitable<void> {
    PluginPair pair(co_await asio::this_coro::executor, given);
    std::string wanted = "Bearer token-2";
    pair.server.on_request = [&wanted](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      const bool right = request.headers.at("authorization") == wanted;
      connection.h2.answer(id, right ? 200 : 401, right ? "fine" : "who are you?");
    };
    // Also for a request that may not be repeated otherwise: a refused one was not carried out.
    std::string answer = co_await ask(pair.client, request_for("/", false, "POST"));
    CHECK(answer == "200 fine");
    CHECK(given.runs() == 2);
    wanted = "nobody";
    answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "401 who are you?");
    CHECK(given.runs() == 3);
    co_await pair.stop();
  }(plugin));
}

TEST_CASE("a failing exec plugin fails requests without being run for each") {
  const Plugin plugin("exit 1");
  run([](const Plugin& given) -> asio::awaitable<void> {
    PluginPair pair(co_await asio::this_coro::executor, given);
    for (int i = 0; i < 3; ++i) {
      const std::string answer = co_await ask(pair.client, request_for("/"));
      CHECK(answer == "invalid_input: exec plugin '" + given.path() + "' ended with exit code 1");
    }
    CHECK(given.runs() == 1);
    CHECK(pair.server.accepted == 0);
    co_await pair.stop();
  }(plugin));
}

TEST_CASE("an exec plugin may give a client certificate") {
  const auto mine = self_signed("me");
  const Plugin plugin("cat \"$0.answer\"");
  std::ofstream(plugin.path() + ".answer") << json::serialize(json::object{
      {"apiVersion", v1},
      {"kind", "ExecCredential"},
      {"status", json::object{{"clientCertificateData", mine.certificate_pem}, {"clientKeyData", mine.key_pem}}}});
  run([](const Plugin& given) -> asio::awaitable<void> {
    PluginPair pair(co_await asio::this_coro::executor, given);
    pair.server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      connection.h2.answer(id, 200, request.headers.contains("authorization") ? "token" : "no token");
    };
    const auto before = pair.credentials->generation();
    const std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 no token");
    CHECK(pair.credentials->generation() == before + 1);
    std::ofstream(given.path() + ".answer")
        << R"({"apiVersion":")" << v1
        << R"(","kind":"ExecCredential","status":{"clientCertificateData":"CERT","clientKeyData":"KEY"}})";
    const bool renewed = co_await pair.credentials->renew(pair.credentials->issue());
    CHECK_FALSE(renewed);
    const auto ready = co_await pair.credentials->ready();
    REQUIRE_FALSE(ready.has_value());
    CHECK(ready.error().code() == Errc::tls);
    co_await pair.stop();
  }(plugin));
}

}  // namespace kube::test
