// The cost of one program in the middle of a stream: execs or port-forwards between a caller and a provider of its own
// making, over TLS on loopback, through the server of liqod or through a bare relay. The two ends are another process
// and behave like Go's programs. So strace, valgrind and the CPU time of this process show the middle's cost alone.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <fstream>

#include "copy_bytes.hpp"
#include "forward_ends.hpp"
#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/client/port_forward.hpp"
#include "kube/client/remote_command.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/testing/link/tunnel_end.hpp"
#include "kubelet/exec_server.hpp"
#include "kubelet/port_forward_server.hpp"
#include "run_to_end.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using kube::CommandConnection;
using kube::async::TaskGroup;
using kube::net::ByteStream;
using kube::wire::CommandRole;
using liqo::bench::ForwardEnd;
using Channel = kube::wire::CommandChannel;
using Headers = kube::net::ServerResponse::Headers;

/// The size of the pieces that Go's programs copy.
constexpr std::size_t piece_size = 32U << 10;
constexpr std::string_view success = R"({"metadata":{},"status":"Success"})";
constexpr kube::wire::CommandStreams streams{.in = true, .out = true};
const std::string zeros(piece_size, '\0');

struct Options {
  bool relay = false, up = false, forward = false;
  std::uint64_t megabytes = 64;
  int still = 0;
  std::uint64_t bytes() const { return megabytes * 1'000'000; }
};

/// Writes in the pieces of Go's SPDY: the head of a frame by two writes of its own.
class GoStream final : public ByteStream {
 public:
  explicit GoStream(std::unique_ptr<ByteStream> under) : under_(std::move(under)) {}
  asio::awaitable<kube::Result<std::size_t>> read_some(std::span<char> buffer) override {
    return under_->read_some(buffer);
  }
  asio::awaitable<kube::Result<void>> write(std::string_view bytes) override {
    for (const std::size_t size : {std::size_t{4}, std::size_t{4}, bytes.size()}) {
      const std::string_view piece = bytes.substr(0, size);
      bytes.remove_prefix(piece.size());
      if (piece.empty()) continue;
      KUBE_CO_TRYV(co_await under_->write(piece));
    }
    co_return kube::Result<void>();
  }
  void close() override { under_->close(); }

 private:
  std::unique_ptr<ByteStream> under_;
};

kube::net::KeyAndCertificate identity() {
  auto made = kube::net::make_self_signed({.common_name = "pump", .ip_addresses = {"127.0.0.1"}},
                                          kube::async::RealClock().wall(), std::chrono::hours(1));
  return std::move(made.value());
}

kube::net::HttpServerOptions serving(const kube::net::KeyAndCertificate& pair) {
  kube::net::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.tls = kube::net::TlsContext::server(
                    {.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .client_ca_pem = {}})
                    .value();
  return options;
}

std::unique_ptr<kube::net::HttpClient> client_of(const asio::any_io_executor& executor, kube::async::Clock& clock,
                                                 std::uint16_t port, const kube::net::KeyAndCertificate& pair) {
  kube::wire::ClusterConfig config;
  config.server = {.tls = true, .host = "127.0.0.1", .port = port, .path = ""};
  config.cluster = "pump";
  config.ca_pem = pair.certificate_pem;
  return std::make_unique<kube::net::HttpClient>(executor, clock,
                                                 kube::net::Credentials::make(std::move(config), clock).value());
}

// -- the ends ---------------------------------------------------------------------------------------------------------

asio::awaitable<void> drain(ByteStream& stream) {
  std::string buffer(piece_size, '\0');
  while (true) {
    const auto count = co_await stream.read_some(buffer);
    if (!count || *count == 0) co_return;
  }
}

/// Writes a message of an API server in the pieces of Go's WebSocket: first the head and as much as fits into its
/// buffer, then the rest.
asio::awaitable<kube::Result<void>> write_message(ByteStream& stream, Channel channel, std::string_view bytes) {
  constexpr std::size_t buffered = 4096;
  const std::size_t size = bytes.size() + 1;
  std::string frame("\x82", 1);
  if (size < 126) {
    frame.push_back(static_cast<char>(size));
  } else {
    frame.append({126, static_cast<char>(size >> 8), static_cast<char>(size & 0xff)});
  }
  frame.push_back(static_cast<char>(channel));
  frame += bytes;
  auto written = co_await stream.write(std::string_view(frame).substr(0, buffered));
  if (written && frame.size() > buffered) written = co_await stream.write(std::string_view(frame).substr(buffered));
  co_return written;
}

asio::awaitable<void> talk_by_websocket(ByteStream& stream, std::uint64_t count) {
  bool going = (co_await write_message(stream, Channel::out, {})).has_value();
  for (std::uint64_t sent = 0; going && sent < count; sent += zeros.size())
    going = (co_await write_message(stream, Channel::out, zeros)).has_value();
  if (going) going = (co_await write_message(stream, Channel::error, success)).has_value();
  if (going) static_cast<void>(co_await stream.write(std::string_view("\x88\x02\x03\xe8", 4)));
}

asio::awaitable<void> talk(CommandConnection& connection, std::uint64_t down) {
  static_cast<void>(co_await connection.ready({kube::TimePoint::max()}));
  for (std::uint64_t sent = 0; sent < down; sent += zeros.size())
    if (!co_await connection.write(Channel::out, zeros)) co_return;
  for (bool reading = down == 0; reading;) {
    auto piece = co_await connection.read(Channel::in);
    reading = piece && !piece->empty();
  }
  static_cast<void>(co_await connection.write(Channel::error, success));
  for (const Channel channel : {Channel::out, Channel::error}) connection.finish(channel);
  connection.close();
}

asio::awaitable<void> listen_to(CommandConnection& connection, const Options& options) {
  static_cast<void>(co_await connection.ready({kube::TimePoint::max()}));
  if (options.up) {
    for (std::uint64_t sent = 0; sent < options.bytes(); sent += zeros.size())
      if (!co_await connection.write(Channel::in, zeros)) co_return;
  }
  connection.finish(Channel::in);
  for (const Channel channel : {Channel::out, Channel::error}) {
    for (bool reading = true; reading;) {
      auto piece = co_await connection.read(channel);
      reading = piece && !piece->empty();
    }
  }
  connection.close();
}

asio::awaitable<void> beside(CommandConnection& connection, asio::awaitable<void> talking) {
  TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(connection.run());
  group.spawn(std::move(talking));
  co_await group.join();
}

/// The provider's API server: a program in the pod that writes or reads that many bytes or, with `still`, writes
/// without end.
asio::awaitable<void> provide_forward(const kube::net::ServerRequest& request, kube::net::ServerResponse& response,
                                      const Options& options) {
  const bool is_websocket = request.header("upgrade") == "websocket";
  Headers headers = {{"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "portforward.k8s.io"}};
  if (is_websocket) {
    headers = {{"upgrade", "websocket"},
               {"sec-websocket-accept", kube::wire::websocket_accept(request.header("sec-websocket-key"))},
               {"sec-websocket-protocol", "SPDY/3.1+portforward.k8s.io"}};
  }
  auto stream = co_await response.upgrade(std::move(headers));
  if (!stream) co_return;
  if (is_websocket) *stream = std::make_unique<kube::testing::TunnelEnd>(std::move(*stream));
  ForwardEnd end(std::make_unique<GoStream>(std::move(*stream)), kube::wire::SpdyRole::server);
  if (!co_await end.accept()) co_return;
  if (options.still > 0) co_await end.pour(zeros, liqo::bench::without_end);
  if (!options.up) co_await end.pour(zeros, options.bytes());
  co_await end.drain();
  if (options.up) co_await end.pour(zeros, 0);
  co_await end.leave(true);
}

/// The provider's API server: a command that writes or reads that many bytes.
asio::awaitable<void> provide(const kube::net::ServerRequest& request, kube::net::ServerResponse& response,
                              kube::async::Clock& clock, const Options& options) {
  const bool is_websocket = request.header("upgrade") == "websocket";
  if (options.forward) {
    co_await provide_forward(request, response, options);
    co_return;
  }
  auto upgrade = liqo::kubelet::read_exec_upgrade(request);
  if (!upgrade) co_return;
  auto stream = co_await response.upgrade(std::move(upgrade->headers));
  if (!stream) co_return;
  const std::uint64_t down = options.up ? 0 : options.bytes();
  const auto executor = co_await asio::this_coro::executor;
  if (is_websocket && !options.up) {
    TaskGroup group(executor);
    group.spawn(talk_by_websocket(**stream, down));
    group.spawn(drain(**stream));
    co_await group.join();
    co_return;
  }
  CommandConnection connection(executor, clock, std::move(*stream), upgrade->make_codec(streams),
                               liqo::kubelet::exec_limits);
  co_await beside(connection, talk(connection, down));
}

/// Requests a stream from the middle, as the API server at home does, which uses SPDY.
asio::awaitable<std::unique_ptr<kube::net::ByteStream>> ask(kube::net::HttpClient& client, kube::async::Clock& clock,
                                                            std::string target, std::string protocol) {
  kube::HttpRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers = {{"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", std::move(protocol)}};
  auto upgraded = co_await client.upgrade(std::move(request), clock.deadline_in(60s));
  if (!upgraded || !upgraded->stream) throw std::runtime_error("the middle does not answer");
  co_return std::move(upgraded->stream);
}

asio::awaitable<void> call_forward(kube::net::HttpClient& client, kube::async::Clock& clock, const Options& options) {
  auto stream = co_await ask(client, clock, "/portForward/here/one", "portforward.k8s.io");
  ForwardEnd end(std::make_unique<GoStream>(std::move(stream)), kube::wire::SpdyRole::client);
  if (!co_await end.open()) throw std::runtime_error("the connection is not forwarded");
  if (options.still > 0) co_await end.pour(zeros, liqo::bench::without_end);
  co_await end.pour(zeros, options.up ? options.bytes() : 0);
  co_await end.drain();
  co_await end.leave(false);
}

asio::awaitable<void> call(kube::net::HttpClient& client, kube::async::Clock& clock, const Options& options) {
  if (options.forward) {
    co_await call_forward(client, clock, options);
    co_return;
  }
  auto stream = co_await ask(client, clock, "/exec/here/one/main?input=1&output=1&command=pump", "v4.channel.k8s.io");
  const auto executor = co_await asio::this_coro::executor;
  if (options.still > 0) {
    // The caller opens its streams, reads the answers to that, and then nothing more.
    auto codec = kube::wire::make_spdy_command(CommandRole::client, kube::wire::CommandVersion::v4, streams);
    CommandConnection connection(executor, clock, std::move(stream), std::move(codec), liqo::kubelet::exec_limits);
    co_await connection.run();
    co_return;
  }
  auto codec = kube::wire::make_spdy_command(CommandRole::client, kube::wire::CommandVersion::v4, streams);
  CommandConnection connection(executor, clock, std::make_unique<GoStream>(std::move(stream)), std::move(codec),
                               liqo::kubelet::exec_limits);
  co_await beside(connection, listen_to(connection, options));
}

template <class T>
void put(int pipe, const T& value) {
  if (::write(pipe, &value, sizeof(value)) != sizeof(value)) throw std::runtime_error("the other process is gone");
}
template <class T>
T get(int pipe) {
  T value;
  if (::read(pipe, &value, sizeof(value)) != sizeof(value)) throw std::runtime_error("the other process is gone");
  return value;
}

asio::awaitable<kube::Result<void>> run_ends(const Options& options, const kube::net::KeyAndCertificate& pair,
                                             int to_middle, int from_middle) {
  const auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  kube::net::HttpServer provider(executor, clock, serving(pair),
                                 [&](const kube::net::ServerRequest& request, kube::net::ServerResponse& response) {
                                   return provide(request, response, clock, options);
                                 });
  put(to_middle, provider.listen().value());
  TaskGroup group(executor, TaskGroup::OnFailure::keep_others);
  group.spawn(provider.serve());
  const auto client = client_of(executor, clock, get<std::uint16_t>(from_middle), pair);
  TaskGroup calls(executor);
  for (int i = 0; i < std::max(1, options.still); ++i) calls.spawn(call(*client, clock, options));
  co_await calls.join();
  co_await client->stop();
  co_await provider.stop(1s);
  co_await group.stop();
  co_return kube::Result<void>();
}

// -- the middle -------------------------------------------------------------------------------------------------------

asio::awaitable<void> serve_forward(const kube::net::ServerRequest& request, kube::net::ServerResponse& response,
                                    kube::net::HttpClient& provider, kube::async::Clock& clock) {
  auto upgrade = liqo::kubelet::read_port_forward_upgrade(request);
  if (!upgrade) co_return;
  auto stream = co_await response.upgrade(std::move(*upgrade));
  if (!stream) co_return;
  const liqo::kubelet::ConnectPortForward connect = [&] {
    return kube::connect_port_forward(provider, clock, {.ns = "there", .pod = "one"}, {});
  };
  co_await liqo::kubelet::serve_port_forward(std::move(*stream), {.name = "here/one", .connect = connect}, clock);
}

asio::awaitable<void> serve(const kube::net::ServerRequest& request, kube::net::ServerResponse& response,
                            kube::net::HttpClient& provider, kube::async::Clock& clock) {
  if (request.target.starts_with("/portForward/")) {
    co_await serve_forward(request, response, provider, clock);
    co_return;
  }
  auto upgrade = liqo::kubelet::read_exec_upgrade(request);
  if (!upgrade) co_return;
  auto stream = co_await response.upgrade(std::move(upgrade->headers));
  if (!stream) co_return;
  const liqo::kubelet::ConnectCommand connect = [&] {
    return kube::connect_remote_command(
        provider, clock, {.ns = "there", .pod = "one", .container = "main", .command = {"pump"}, .streams = streams},
        {});
  };
  liqo::kubelet::CommandCaller caller{
      .stream = std::move(*stream), .codec = upgrade->make_codec(streams), .streams = streams};
  co_await liqo::kubelet::serve_exec(std::move(caller), connect, clock);
}

asio::awaitable<void> relay(const kube::net::ServerRequest& request, kube::net::ServerResponse& response,
                            kube::net::HttpClient& provider, kube::async::Clock& clock) {
  kube::HttpRequest asked;
  asked.method = "POST";
  asked.target = "/";
  for (const auto& [name, value] : request.headers)
    if (name == "upgrade" || name == "x-stream-protocol-version") asked.headers.emplace_back(name, value);
  auto remote = co_await provider.upgrade(std::move(asked), clock.deadline_in(60s));
  if (!remote || !remote->stream) co_return;
  Headers headers;
  for (const auto& [name, value] : remote->head.headers)
    if (name == "upgrade" || name == "x-stream-protocol-version") headers.emplace_back(name, value);
  auto local = co_await response.upgrade(std::move(headers));
  if (!local) co_return;
  TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(liqo::bench::copy_bytes(**local, *remote->stream));
  group.spawn(liqo::bench::copy_bytes(*remote->stream, **local));
  co_await group.join();
}

asio::awaitable<void> pass(asio::awaitable<void> stream, kube::async::Event& over) {
  co_await std::move(stream);
  over.set();
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Anonymous memory of this process, in KiB.
double private_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double value = 0; word == "RssAnon:" && status >> value) return value;
  return 0;
}

/// The part of it that is in use on the heap.
double live_kib() { return static_cast<double>(mallinfo2().uordblks) / 1024; }

asio::awaitable<kube::Result<void>> run_middle(const Options& options, const kube::net::KeyAndCertificate& pair,
                                               int to_ends, int from_ends) {
  const auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  const auto provider = client_of(executor, clock, get<std::uint16_t>(from_ends), pair);
  kube::async::Event over(executor);
  kube::net::HttpServer server(executor, clock, serving(pair),
                               [&](const kube::net::ServerRequest& request, kube::net::ServerResponse& response) {
                                 return pass(options.relay ? relay(request, response, *provider, clock)
                                                           : serve(request, response, *provider, clock),
                                             over);
                               });
  TaskGroup group(executor, TaskGroup::OnFailure::keep_others);
  KUBE_CO_TRY(port, server.listen());
  group.spawn(server.serve());
  const double spent = cpu_seconds(), held = private_kib(), live = live_kib();
  put(to_ends, port);
  if (options.still > 0) {
    // Wait until the process is idle.
    for (double before = -1; cpu_seconds() - before > 0.01;) {
      before = cpu_seconds();
      co_await clock.sleep(1s);
    }
    std::cout << (private_kib() - held) / options.still << " KiB for each of " << options.still << " streams, "
              << (live_kib() - live) / options.still << " of them in use\n";
  } else {
    co_await over.wait();
    const double megabytes = static_cast<double>(options.megabytes);
    std::cout << 1000 * (cpu_seconds() - spent) / megabytes << " ms of CPU per MB\n";
  }
  co_await server.stop(1s);
  co_await provider->stop();
  co_await group.stop();
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Pumps bytes through a server of streams and says what that takes");
  app.add_flag("--relay", options.relay, "a bare relay in its place");
  app.add_flag("--up", options.up, "into the container; without it, out of it");
  app.add_flag("--forward", options.forward, "port-forwards; without it, execs");
  app.add_option("--megabytes", options.megabytes, "to pump (default: 64)");
  app.add_option("--still", options.still,
                 "so many streams whose readers stand still (of port-forwards both), and what memory they take");
  CLI11_PARSE(app, argc, argv);

  const kube::net::KeyAndCertificate pair = identity();
  int to_ends[2], to_middle[2];
  if (::pipe(to_ends) != 0 || ::pipe(to_middle) != 0) return 1;
  const pid_t ends = ::fork();
  if (ends < 0) return 1;
  asio::io_context io(1);
  if (ends == 0) {
    const int code = liqo::bench::run_to_end("stream_pump", io, run_ends(options, pair, to_middle[1], to_ends[0]));
    ::_exit(code);
  }
  const int code = liqo::bench::run_to_end("stream_pump", io, run_middle(options, pair, to_ends[1], to_middle[0]));
  int status = 0;
  if (options.still > 0) ::kill(ends, SIGKILL);
  ::waitpid(ends, &status, 0);
  return code;
}
