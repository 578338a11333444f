#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "model/volume/volume_archive.hpp"
#include "volumes/files.hpp"
#include "volumes/walk.hpp"
#include "volumes/writer.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
using kube::Result;
using model::ArchiveEntry;
using model::FileMeta;
using Kind = ArchiveEntry::Kind;

Result<void> clear_directory(int directory, const std::string& path, std::size_t depth) {
  if (depth > model::max_depth) return kube::fail(Errc::too_large, path + " is nested too deep to be removed");
  KUBE_TRY(names, names_in(directory, path));
  for (const std::string& name : names) {
    if (::unlinkat(directory, name.c_str(), 0) == 0) continue;
    const std::string inner_path = joined(path, name);
    if (errno != EISDIR && errno != EPERM) return failed("removing", inner_path);
    const Descriptor inner = open_directory(directory, name);
    if (!inner) return failed("opening", inner_path);
    KUBE_TRYV(clear_directory(inner.get(), inner_path, depth + 1));
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) return failed("removing", inner_path);
  }
  return {};
}

class Receiver {
 public:
  explicit Receiver(Descriptor root) { root_ = root.get(), open_.push_back({std::move(root), {}, ""}); }

  Result<void> take(const ArchiveEntry& entry) {
    switch (entry.kind) {
      case Kind::directory:
        return enter(entry);
      case Kind::up:
        return leave();
      case Kind::file:
        return begin_file(entry);
      case Kind::bytes:
        return fill_file(entry.text);
      case Kind::file_end:
        return end_file(entry.text);
      case Kind::symlink:
        return make_symlink(entry);
      case Kind::hard_link:
        return make_hard_link(entry);
      case Kind::end:
        return {};
    }
    return {};
  }
  Kept kept() const { return kept_; }

 private:
  struct Open {
    Descriptor descriptor;
    FileMeta meta;
    std::string path;
  };
  int here() const { return open_.back().descriptor.get(); }
  std::string path_of(const std::string& name) const { return joined(open_.back().path, name); }

  Result<void> enter(const ArchiveEntry& entry) {
    if (entry.name.empty()) {
      open_.back().meta = entry.meta;
      return {};
    }
    const std::string path = path_of(entry.name);
    if (::mkdirat(here(), entry.name.c_str(), 0700) != 0) return failed("making", path);
    Descriptor made = open_directory(here(), entry.name);
    if (!made) return failed("opening", path);
    open_.push_back({std::move(made), entry.meta, path});
    return {};
  }

  Result<void> leave() {
    auto done = complete(open_.back().descriptor.get(), open_.back().meta, open_.back().path);
    // The first directory stays open, for the sync of its file system at the end.
    if (open_.size() > 1) open_.pop_back();
    return done;
  }

  Result<void> begin_file(const ArchiveEntry& entry) {
    file_path_ = path_of(entry.name);
    file_ =
        Descriptor(::openat(here(), entry.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_) return failed("making", file_path_);
    digest_ = {};
    meta_ = entry.meta;
    size_ = entry.size;
    return {};
  }

  Result<void> fill_file(const std::string& bytes) {
    digest_.add(bytes);
    // Zeros become a hole, as in the file that was read.
    if (bytes.find_first_not_of('\0') == std::string::npos)
      return ::lseek(file_.get(), static_cast<off_t>(bytes.size()), SEEK_CUR) < 0 ? failed("writing", file_path_)
                                                                                  : Result<void>();
    return write_all(file_.get(), bytes, file_path_);
  }

  Result<void> end_file(const std::string& digest) {
    if (digest_.end() != digest)
      return kube::fail(Errc::protocol, file_path_ + " has arrived with another content than it was sent with");
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) return failed("writing", file_path_);
    auto done = complete(file_.get(), meta_, file_path_);
    file_ = Descriptor(-1);
    return done;
  }

  Result<void> make_symlink(const ArchiveEntry& entry) {
    const std::string path = path_of(entry.name);
    if (::symlinkat(entry.text.c_str(), here(), entry.name.c_str()) != 0) return failed("linking", path);
    if (::fchownat(here(), entry.name.c_str(), entry.meta.uid, entry.meta.gid, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != EPERM && errno != EINVAL) return failed("giving its owner to", path);
      kept_.owners = false;
    }
    const auto times = times_of(entry.meta);
    ::utimensat(here(), entry.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
    return {};
  }

  Result<void> make_hard_link(const ArchiveEntry& entry) {
    const std::string path = path_of(entry.name);
    std::string_view left = entry.text;
    Descriptor inner(::fcntl(root_, F_DUPFD_CLOEXEC, 0));
    for (std::size_t slash; inner && (slash = left.find('/')) != std::string_view::npos; left.remove_prefix(slash + 1))
      inner = open_directory(inner.get(), std::string(left.substr(0, slash)));
    if (!inner || ::linkat(inner.get(), std::string(left).c_str(), here(), entry.name.c_str(), 0) != 0)
      return failed("linking", path);
    return {};
  }

  static std::array<timespec, 2> times_of(const FileMeta& meta) {
    return {{{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = meta.seconds, .tv_nsec = meta.nanoseconds}}};
  }

  /// Sets the owner first, because changing it clears the set-user-ID bits.
  Result<void> complete(int file, const FileMeta& meta, const std::string& path) {
    if (::fchown(file, meta.uid, meta.gid) != 0) {
      if (errno != EPERM && errno != EINVAL) return failed("giving its owner to", path);
      kept_.owners = false;
    }
    if (::fchmod(file, meta.mode) != 0) {
      if (errno != EPERM) return failed("giving its permissions to", path);
      kept_.modes = false;
    }
    // Some file systems drop permissions without an error.
    struct stat about{};
    if (::fstat(file, &about) != 0) return failed("looking at", path);
    kept_.owners = kept_.owners && about.st_uid == meta.uid && about.st_gid == meta.gid;
    kept_.modes = kept_.modes && (about.st_mode & permissions) == meta.mode;
    const auto times = times_of(meta);
    ::futimens(file, times.data());
    return {};
  }

  int root_ = -1;
  std::vector<Open> open_;
  Descriptor file_{-1};
  std::string file_path_;
  FileMeta meta_;
  std::uint64_t size_ = 0;
  Digest digest_;
  Kept kept_;
};

}  // namespace

Result<Kept> receive_files(const std::string& directory, int from) {
  Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return failed("opening", directory);
  const int number = root.get();
  // An earlier receiver may not have noticed yet that its connection was cut.
  if (::flock(number, LOCK_EX) != 0) return failed("locking", directory);
  Receiver receiver(std::move(root));
  model::ArchiveReader reader;
  std::string piece;
  bool is_cleared = false;
  while (!reader.ended()) {
    piece.resize(model::archive_chunk);
    const ssize_t length = ::read(from, piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return failed("reading what is sent for", "");
    if (length == 0) return kube::fail(Errc::closed, "the stream of files has ended before its end");
    // The directory is cleared only when the stream delivers something, because its content may be a good copy.
    if (!std::exchange(is_cleared, true)) KUBE_TRYV(clear_directory(number, "", 1));
    reader.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(length)));
    while (true) {
      KUBE_TRY(entry, reader.next());
      if (!entry) break;
      KUBE_TRYV(receiver.take(*entry));
    }
  }
  if (::syncfs(number) != 0) return failed("writing", "");
  return receiver.kept();
}

}  // namespace liqoctl
