// Two connected byte streams in memory, with a bounded pipe each way: a writer waits while its pipe is full.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <utility>

#include "kube/async/event.hpp"
#include "kube/net/transport.hpp"

namespace kube::test {

namespace asio = boost::asio;

/// One direction. `total` counts what has ever been written.
struct Pipe {
  Pipe(const asio::any_io_executor& executor, std::size_t room)
      : capacity(room), readable(executor), writable(executor) {}
  std::size_t capacity;
  std::string bytes;
  bool closed = false;
  std::size_t total = 0;
  // One waiter each: a shared event could be reset by one side before the other has seen it.
  async::Event readable;
  async::Event writable;

  void close() {
    closed = true;
    readable.set();
    writable.set();
  }
};

class PipeStream final : public net::ByteStream {
 public:
  PipeStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out) : in_(std::move(in)), out_(std::move(out)) {}
  ~PipeStream() override { close_pipes(); }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    while (in_->bytes.empty() && !in_->closed) {
      in_->readable.reset();
      co_await in_->readable.wait();
    }
    const std::size_t size = std::min(buffer.size(), in_->bytes.size());
    std::copy_n(in_->bytes.begin(), size, buffer.begin());
    in_->bytes.erase(0, size);
    in_->writable.set();
    co_return size;
  }

  asio::awaitable<Result<void>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      while (out_->bytes.size() >= out_->capacity && !out_->closed) {
        out_->writable.reset();
        co_await out_->writable.wait();
      }
      if (out_->closed) co_return fail(Errc::closed, "the pipe is closed");
      const std::string_view piece = bytes.substr(0, out_->capacity - out_->bytes.size());
      out_->bytes += piece;
      out_->total += piece.size();
      out_->readable.set();
      bytes.remove_prefix(piece.size());
    }
    co_return Result<void>();
  }

  void close() override { close_pipes(); }

 private:
  void close_pipes() {
    in_->close();
    out_->close();
  }
  std::shared_ptr<Pipe> in_;
  std::shared_ptr<Pipe> out_;
};

struct PipePair {
  std::unique_ptr<net::ByteStream> near;
  std::unique_ptr<net::ByteStream> far;
  std::shared_ptr<Pipe> to_far;
  std::shared_ptr<Pipe> to_near;
};

inline PipePair make_pipes(const asio::any_io_executor& executor, std::size_t capacity = 64 * 1024) {
  auto there = std::make_shared<Pipe>(executor, capacity);
  auto back = std::make_shared<Pipe>(executor, capacity);
  return {std::make_unique<PipeStream>(back, there), std::make_unique<PipeStream>(there, back), there, back};
}

}  // namespace kube::test
