// A ByteStream whose first bytes have come already, after the head of an upgrade.
#pragma once

#include <algorithm>
#include <cstring>

#include "kube/net/transport.hpp"

namespace kube::net {

class PrefixedStream final : public ByteStream {
 public:
  PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> stream)
      : prefix_(std::move(prefix)), stream_(std::move(stream)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) override {
    if (prefix_.empty()) return stream_->read_some(buffer);
    return take(buffer);
  }
  asio::awaitable<Result<void>> write(std::string_view bytes) override { return stream_->write(bytes); }
  void close() override {
    prefix_.clear();
    stream_->close();
  }
  void be_patient() override { stream_->be_patient(); }
  bool is_cut_off() const override { return stream_->is_cut_off(); }

 private:
  asio::awaitable<Result<std::size_t>> take(std::span<char> buffer) {
    const std::size_t count = std::min(buffer.size(), prefix_.size());
    std::memcpy(buffer.data(), prefix_.data(), count);
    prefix_.erase(0, count);
    // It would keep as much as came at once, for nothing: the stream may last for hours.
    if (prefix_.empty()) prefix_.shrink_to_fit();
    co_return count;
  }

  std::string prefix_;
  std::unique_ptr<ByteStream> stream_;
};

}  // namespace kube::net
