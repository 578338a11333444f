#include "http1_connection.hpp"

#include <limits>

#include "http1_head.hpp"
#include "http1_reader.hpp"
#include "net/prefixed_stream.hpp"

namespace kube::net {

struct Http1Connection::Impl {
  std::unique_ptr<ClientStream> stream;
  std::shared_ptr<void> slot;
  Http1Reader<false> reader;
  bool reusable = false;
  bool answered = false;
  std::uint64_t taken_before = 0;  ///< when the request under way began
};

Http1Connection::Http1Connection(std::unique_ptr<ClientStream> stream, std::shared_ptr<void> slot)
    : impl_(std::make_unique<Impl>()) {
  impl_->stream = std::move(stream);
  impl_->slot = std::move(slot);
}
Http1Connection::~Http1Connection() = default;

asio::awaitable<Result<ResponseHead>> Http1Connection::exchange(HttpRequest request, std::string host,
                                                                std::string path_prefix, Headers extra) {
  impl_->reusable = false;
  impl_->answered = false;
  impl_->taken_before = impl_->stream->bytes_taken();
  Http1Head head = Http1Head::request(request.method, path_prefix + request.target);
  head.add("host", host).add(request.headers).add(extra);
  if (!request.body.empty() || (request.method != "GET" && request.method != "DELETE"))
    head.add("content-length", std::to_string(request.body.size()));
  KUBE_CO_TRY(out, head.finish());
  KUBE_CO_TRYV(co_await impl_->stream->write(out += request.body));
  while (true) {
    impl_->reader.start(std::numeric_limits<std::uint64_t>::max(), request.method == "HEAD");
    KUBE_CO_TRY(read, co_await impl_->reader.read_header(*impl_->stream));
    if (!read) co_return fail(Errc::closed, "the server closed the connection");
    impl_->answered = true;
    const auto& message = impl_->reader.parser().get();
    const int status = static_cast<int>(message.result_int());
    if (status >= 200 || status == 101) {
      impl_->reusable = impl_->reader.parser().keep_alive();
      co_return ResponseHead{.status = status, .headers = headers_of(message)};
    }
  }
}

asio::awaitable<Result<std::string>> Http1Connection::read_body() {
  auto chunk = co_await impl_->reader.read_body(*impl_->stream);
  if (!chunk) impl_->reusable = false;
  co_return chunk;
}

bool Http1Connection::is_reusable() const {
  return impl_->reusable && impl_->reader.is_done() && impl_->reader.buffered() == 0;
}
bool Http1Connection::is_quiet() const { return impl_->stream->is_quiet(); }
bool Http1Connection::has_sent() const { return impl_->stream->bytes_taken() > impl_->taken_before; }
void Http1Connection::close() { impl_->stream->close(); }
bool Http1Connection::has_answered() const { return impl_->answered; }

std::unique_ptr<ByteStream> Http1Connection::into_stream() {
  return std::make_unique<PrefixedStream>(impl_->reader.take_rest(), std::move(impl_->stream));
}

}  // namespace kube::net
