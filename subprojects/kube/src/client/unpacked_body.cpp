#include "unpacked_body.hpp"

namespace kube {

asio::awaitable<Result<std::string>> UnpackedBody::read() {
  while (true) {
    KUBE_CO_TRY(block, decoder_.take());
    if (!block.empty()) co_return std::move(block);
    KUBE_CO_TRY(piece, co_await packed_->read());
    if (!piece.empty()) {
      decoder_.feed(std::move(piece));
      continue;
    }
    if (!decoder_.is_complete()) co_return fail(Errc::protocol, "the gzip stream of the body is cut short");
    co_return std::string();
  }
}

}  // namespace kube
