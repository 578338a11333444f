#include "model/volume/volume_archive.hpp"
#include "volumes/files.hpp"
#include "volumes/walk.hpp"
#include "volumes/writer.hpp"

namespace liqoctl {
namespace {

using kube::Result;
using model::ArchiveEntry;
using model::encode;
using model::FileMeta;
using Kind = ArchiveEntry::Kind;

/// The most lines about files that were left out.
constexpr std::size_t max_notes = 20;

FileMeta meta_of(const struct stat& about) {
  return {.mode = about.st_mode & permissions,
          .uid = about.st_uid,
          .gid = about.st_gid,
          .seconds = about.st_mtim.tv_sec,
          .nanoseconds = static_cast<std::uint32_t>(about.st_mtim.tv_nsec)};
}

class Sender final : public Visitor {
 public:
  Sender(int to, std::string& notes) : out_(to), notes_(notes) { out_.buffer() = model::archive_magic; }

  Result<void> end() {
    encode({.kind = Kind::end, .size = bytes_, .count = count_}, out_.buffer());
    if (left_out_ > max_notes)
      notes_ += "and " + std::to_string(left_out_ - max_notes) + " more sockets, pipes or devices\n";
    return out_.flush();
  }

  Result<void> enter(const WalkedFile& directory) override {
    return named({.kind = Kind::directory, .name = directory.name, .meta = meta_of(directory.about)});
  }
  Result<void> leave() override {
    encode({.kind = Kind::up}, out_.buffer());
    return out_.flush_when_full();
  }
  Result<void> file(const WalkedFile& file, int parent) override {
    const auto size = static_cast<std::uint64_t>(file.about.st_size);
    KUBE_TRYV(named({.kind = Kind::file, .name = file.name, .meta = meta_of(file.about), .size = size}));
    Digest digest;
    KUBE_TRYV(read_file(parent, file, [&](const std::string& piece) {
      digest.add(piece);
      encode({.kind = Kind::bytes, .text = piece}, out_.buffer());
      return out_.flush_when_full();
    }));
    bytes_ += size;
    encode({.kind = Kind::file_end, .text = digest.end()}, out_.buffer());
    return out_.flush_when_full();
  }
  Result<void> symlink(const WalkedFile& link, const std::string& target) override {
    return named({.kind = Kind::symlink, .name = link.name, .meta = meta_of(link.about), .text = target});
  }
  Result<void> hard_link(const WalkedFile& link, const std::string& first) override {
    return named({.kind = Kind::hard_link, .name = link.name, .text = first});
  }
  void left_out(const std::string& path) override {
    if (++left_out_ <= max_notes) notes_ += path + " is no file, directory or link, and is left out\n";
  }

 private:
  Result<void> named(const ArchiveEntry& entry) {
    ++count_;
    encode(entry, out_.buffer());
    return out_.flush_when_full();
  }

  Writer out_;
  std::string& notes_;
  std::uint64_t count_ = 0, bytes_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

Result<void> send_files(const std::string& directory, int to, std::string& notes) {
  Sender sender(to, notes);
  KUBE_TRYV(walk(directory, sender));
  return sender.end();
}

}  // namespace liqoctl
