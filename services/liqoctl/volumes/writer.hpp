// Writes the content of a volume to a descriptor, many small pieces at once, and into a digest.
// Tested by test/unit/programs/volume_files_test.py.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

#include "model/volume/volume_archive.hpp"
#include "volumes/walk.hpp"

namespace liqoctl {

/// SHA-256.
class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string end() {
    std::string made(model::digest_size, '\0');
    EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(made.data()), nullptr);
    return made;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// Collects small pieces.
class Writer {
 public:
  explicit Writer(int to) : to_(to) {}
  std::string& buffer() { return buffer_; }
  kube::Result<void> flush_when_full() { return buffer_.size() < chunk ? kube::Result<void>() : flush(); }
  kube::Result<void> flush() {
    auto written = write_all(to_, buffer_, "");
    buffer_.clear();
    return written;
  }

 private:
  static constexpr std::size_t chunk = 256 * 1024;

  int to_;
  std::string buffer_;
};

}  // namespace liqoctl
