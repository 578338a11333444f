#include "volume_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/volume_archive.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
using kube::Result;
using model::ArchiveEntry;
using model::encode;
using model::FileMeta;
using Kind = ArchiveEntry::Kind;

/// Names that are read at once, files with several names that are known as one, and lines about what is left out.
constexpr std::size_t most_names = 2'000'000, most_shared = 1'000'000, most_notes = 20;
constexpr std::size_t output_chunk = 256 * 1024;
constexpr mode_t permissions = 07777;
constexpr std::string_view lost_and_found = "lost+found";

std::unexpected<kube::Failure> failed(std::string_view what, const std::string& path) {
  const int error = errno;
  return kube::fail(error == ENOSPC ? Errc::too_large : Errc::invalid_input,
                    std::string(what) + " " + (path.empty() ? "the volume" : path) + ": " + std::strerror(error));
}

/// A file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

Descriptor open_directory(int parent, const std::string& name) {
  return Descriptor(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

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

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const char byte : bytes) {
    made.push_back(digits[static_cast<unsigned char>(byte) >> 4]);
    made.push_back(digits[static_cast<unsigned char>(byte) & 15]);
  }
  return made;
}

std::string octal(unsigned number, std::size_t digits) {
  std::string made(digits, '0');
  for (std::size_t at = digits; at > 0; number >>= 3) made[--at] = static_cast<char>('0' + (number & 7));
  return made;
}

Result<void> write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("writing", "");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Collects small pieces.
class Writer {
 public:
  explicit Writer(int to) : to_(to) {}
  std::string& buffer() { return buffer_; }
  Result<void> flush_when_full() { return buffer_.size() < output_chunk ? Result<void>() : flush(); }
  Result<void> flush() {
    auto written = write_all(to_, buffer_);
    buffer_.clear();
    return written;
  }

 private:
  int to_;
  std::string buffer_;
};

FileMeta meta_of(const struct stat& about) {
  return {.mode = about.st_mode & permissions,
          .uid = about.st_uid,
          .gid = about.st_gid,
          .seconds = about.st_mtim.tv_sec,
          .nanoseconds = static_cast<std::uint32_t>(about.st_mtim.tv_nsec)};
}

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

/// Sorted, so that the walk is the same everywhere.
Result<std::vector<std::string>> names_in(int directory, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0)), &::closedir);
  if (!stream) return failed("reading", path);
  ::rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != ".." && !(path.empty() && name == lost_and_found)) names.push_back(std::move(name));
    if (names.size() > most_names)
      return kube::fail(Errc::too_large, (path.empty() ? "the volume" : path) + " has more than " +
                                             std::to_string(most_names) + " files");
    errno = 0;
  }
  if (errno != 0) return failed("reading", path);
  std::ranges::sort(names);
  return names;
}

/// Who sees the files of a walk, directory by directory.
class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;
  /// `name` and `path` of the first directory are "".
  virtual Result<void> enter(const std::string& path, const std::string& name, const struct stat& about) = 0;
  virtual Result<void> leave() { return {}; }
  virtual Result<void> file(const std::string& path, const std::string& name, const struct stat& about, int parent) = 0;
  virtual Result<void> symlink(const std::string& path, const std::string& name, const struct stat& about,
                               const std::string& target) = 0;
  virtual Result<void> hard_link(const std::string& path, const std::string& name, const std::string& first) = 0;
  virtual void left_out(const std::string&) {}
};

class Walk {
 public:
  explicit Walk(Visitor& visitor) : visitor_(visitor) {}

  Result<void> run(const std::string& directory) {
    const Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat about{};
    if (!root || ::fstat(root.get(), &about) != 0) return failed("opening", directory);
    return visit(root.get(), "", "", about, 1);
  }

 private:
  Result<void> visit(int directory, const std::string& path, const std::string& name, const struct stat& about,
                     std::size_t depth) {
    if (depth > model::deepest_directory)
      return kube::fail(Errc::too_large,
                        path + " is nested deeper than " + std::to_string(model::deepest_directory) + " levels");
    if (auto seen = visitor_.enter(path, name, about); !seen) return seen;
    auto names = names_in(directory, path);
    if (!names) return std::unexpected(std::move(names.error()));
    for (const std::string& one : *names)
      if (auto seen = visit_one(directory, joined(path, one), one, depth); !seen) return seen;
    return visitor_.leave();
  }

  Result<void> visit_one(int parent, const std::string& path, const std::string& name, std::size_t depth) {
    struct stat about{};
    if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return failed("looking at", path);
    if (S_ISDIR(about.st_mode)) {
      const Descriptor inner = open_directory(parent, name);
      if (!inner) return failed("opening", path);
      return visit(inner.get(), path, name, about, depth + 1);
    }
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
      visitor_.left_out(path);
      return {};
    }
    if (S_ISREG(about.st_mode) && about.st_nlink > 1) {
      const std::pair identity{about.st_dev, about.st_ino};
      if (const auto known = shared_.find(identity); known != shared_.end())
        return visitor_.hard_link(path, name, known->second);
      if (shared_.size() < most_shared) shared_.emplace(identity, path);
    }
    if (S_ISREG(about.st_mode)) return visitor_.file(path, name, about, parent);
    std::string target(model::longest_link + 1, '\0');
    const ssize_t length = ::readlinkat(parent, name.c_str(), target.data(), target.size());
    if (length < 0) return failed("reading the link", path);
    target.resize(static_cast<std::size_t>(length));
    return visitor_.symlink(path, name, about, target);
  }

  Visitor& visitor_;
  std::map<std::pair<dev_t, ino_t>, std::string> shared_;
};

/// Reads a file to its end, which must be where it was when the walk came by; gives each piece to `take`.
template <class Take>
Result<void> read_file(int parent, const std::string& path, const std::string& name, const struct stat& about,
                       Take take) {
  const Descriptor file(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed("opening", path);
  std::string piece;
  std::uint64_t left = static_cast<std::uint64_t>(about.st_size);
  while (true) {
    piece.resize(model::archive_chunk);
    const ssize_t length = ::read(file.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return failed("reading", path);
    piece.resize(static_cast<std::size_t>(length));
    if (piece.size() > left || (piece.empty() && left > 0))
      return kube::fail(Errc::invalid_input, path + " was written to while it was read: something uses the volume");
    if (piece.empty()) return {};
    left -= piece.size();
    if (auto taken = take(piece); !taken) return taken;
  }
}

// -- sending ----------------------------------------------------------------------------------------------------------

class Sender final : public Visitor {
 public:
  Sender(int to, std::string& notes) : out_(to), notes_(notes) { out_.buffer() = model::archive_magic; }

  Result<void> end() {
    encode({.kind = Kind::end, .size = bytes_, .count = count_}, out_.buffer());
    if (left_out_ > most_notes)
      notes_ += "and " + std::to_string(left_out_ - most_notes) + " more sockets, pipes or devices\n";
    return out_.flush();
  }

  Result<void> enter(const std::string&, const std::string& name, const struct stat& about) override {
    return named({.kind = Kind::directory, .name = name, .meta = meta_of(about)});
  }
  Result<void> leave() override {
    encode({.kind = Kind::up}, out_.buffer());
    return out_.flush_when_full();
  }
  Result<void> file(const std::string& path, const std::string& name, const struct stat& about, int parent) override {
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (auto sent = named({.kind = Kind::file, .name = name, .meta = meta_of(about), .size = size}); !sent) return sent;
    Digest digest;
    auto read = read_file(parent, path, name, about, [&](const std::string& piece) {
      digest.add(piece);
      encode({.kind = Kind::bytes, .text = piece}, out_.buffer());
      return out_.flush_when_full();
    });
    if (!read) return read;
    bytes_ += size;
    encode({.kind = Kind::file_end, .text = digest.end()}, out_.buffer());
    return out_.flush_when_full();
  }
  Result<void> symlink(const std::string&, const std::string& name, const struct stat& about,
                       const std::string& target) override {
    return named({.kind = Kind::symlink, .name = name, .meta = meta_of(about), .text = target});
  }
  Result<void> hard_link(const std::string&, const std::string& name, const std::string& first) override {
    return named({.kind = Kind::hard_link, .name = name, .text = first});
  }
  void left_out(const std::string& path) override {
    if (++left_out_ <= most_notes) notes_ += path + " is no file, directory or link, and is left out\n";
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

// -- receiving --------------------------------------------------------------------------------------------------------

Result<void> clear_directory(int directory, const std::string& path, std::size_t depth) {
  if (depth > model::deepest_directory) return kube::fail(Errc::too_large, path + " is nested too deep to be removed");
  auto names = names_in(directory, path);
  if (!names) return std::unexpected(std::move(names.error()));
  for (const std::string& name : *names) {
    if (::unlinkat(directory, name.c_str(), 0) == 0) continue;
    const std::string inner_path = joined(path, name);
    if (errno != EISDIR && errno != EPERM) return failed("removing", inner_path);
    const Descriptor inner = open_directory(directory, name);
    if (!inner) return failed("opening", inner_path);
    if (auto cleared = clear_directory(inner.get(), inner_path, depth + 1); !cleared) return cleared;
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
    // The first one stays, for what its file system is told at the end.
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
    // What holds nothing takes no room, as in the file that was read.
    if (bytes.find_first_not_of('\0') == std::string::npos)
      return ::lseek(file_.get(), static_cast<off_t>(bytes.size()), SEEK_CUR) < 0 ? failed("writing", file_path_)
                                                                                  : Result<void>();
    std::string_view left = bytes;
    while (!left.empty()) {
      const ssize_t written = ::write(file_.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("writing", file_path_);
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
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

  /// Owner first: with another one the bits of set-user-ID go.
  Result<void> complete(int file, const FileMeta& meta, const std::string& path) {
    if (::fchown(file, meta.uid, meta.gid) != 0) {
      if (errno != EPERM && errno != EINVAL) return failed("giving its owner to", path);
      kept_.owners = false;
    }
    if (::fchmod(file, meta.mode) != 0) {
      if (errno != EPERM) return failed("giving its permissions to", path);
      kept_.modes = false;
    }
    // File systems that do not keep permissions say nothing of it.
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

// -- comparing --------------------------------------------------------------------------------------------------------

/// A name in one line, which two names never share.
std::string escaped(std::string_view name) {
  std::string made;
  for (const char c : name)
    if (c == '\\' || static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      made += "\\" + octal(static_cast<unsigned char>(c), 3);
    else
      made.push_back(c);
  return made;
}

class Lister final : public Visitor {
 public:
  Lister(int to, Kept compared) : out_(to), compared_(compared) {}
  Result<void> end() {
    // Each line before it has its end already.
    out_.buffer() += volume_end.substr(1);
    return out_.flush();
  }

  Result<void> enter(const std::string& path, const std::string&, const struct stat& about) override {
    return line("directory", about, 0, "-", path.empty() ? "." : escaped(path));
  }
  Result<void> file(const std::string& path, const std::string& name, const struct stat& about, int parent) override {
    Digest digest;
    auto read = read_file(parent, path, name, about, [&](const std::string& piece) -> Result<void> {
      digest.add(piece);
      return {};
    });
    if (!read) return read;
    return line("file", about, static_cast<std::uint64_t>(about.st_size), hex(digest.end()), escaped(path));
  }
  Result<void> symlink(const std::string& path, const std::string&, const struct stat& about,
                       const std::string& target) override {
    struct stat without_mode = about;
    without_mode.st_mode = 0777;
    return line("link", without_mode, 0, "-", escaped(path) + " to " + escaped(target));
  }
  Result<void> hard_link(const std::string& path, const std::string&, const std::string& first) override {
    out_.buffer() += "name " + escaped(path) + " of " + escaped(first) + "\n";
    return out_.flush_when_full();
  }

 private:
  Result<void> line(std::string_view kind, const struct stat& about, std::uint64_t size, const std::string& digest,
                    const std::string& path) {
    const std::string mode = compared_.modes ? octal(about.st_mode & permissions, 4) : "-";
    const std::string owner =
        compared_.owners ? std::to_string(about.st_uid) + ":" + std::to_string(about.st_gid) : "-";
    out_.buffer() +=
        std::string(kind) + " " + mode + " " + owner + " " + std::to_string(size) + " " + digest + " " + path + "\n";
    return out_.flush_when_full();
  }

  Writer out_;
  Kept compared_;
};

class Fingerprint final : public Visitor {
 public:
  std::string end() { return hex(digest_.end()); }

  Result<void> enter(const std::string& path, const std::string&, const struct stat& about) override {
    return add(path, about);
  }
  Result<void> file(const std::string& path, const std::string&, const struct stat& about, int) override {
    return add(path, about);
  }
  Result<void> symlink(const std::string& path, const std::string&, const struct stat& about,
                       const std::string& target) override {
    digest_.add(escaped(target));
    return add(path, about);
  }
  Result<void> hard_link(const std::string& path, const std::string&, const std::string& first) override {
    digest_.add(escaped(path) + "\n" + escaped(first) + "\n");
    return {};
  }

 private:
  Result<void> add(const std::string& path, const struct stat& about) {
    digest_.add(escaped(path) + "\n");
    for (const std::int64_t number :
         {std::int64_t(about.st_ino), std::int64_t(about.st_mode), std::int64_t(about.st_uid),
          std::int64_t(about.st_gid), std::int64_t(about.st_size), std::int64_t(about.st_mtim.tv_sec),
          std::int64_t(about.st_mtim.tv_nsec), std::int64_t(about.st_ctim.tv_sec), std::int64_t(about.st_ctim.tv_nsec)})
      digest_.add(std::to_string(number) + " ");
    return {};
  }
  Digest digest_;
};

}  // namespace

Result<void> send_files(const std::string& directory, int to, std::string& notes) {
  Sender sender(to, notes);
  if (auto walked = Walk(sender).run(directory); !walked) return walked;
  return sender.end();
}

Result<Kept> receive_files(const std::string& directory, int from) {
  Descriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return failed("opening", directory);
  const int number = root.get();
  // One whose connection was cut may not have noticed yet.
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
    // Of a stream in which nothing comes what is there stays: it may be a copy that is good.
    if (!std::exchange(is_cleared, true))
      if (auto cleared = clear_directory(number, "", 1); !cleared) return std::unexpected(std::move(cleared.error()));
    reader.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(length)));
    while (true) {
      auto entry = reader.next();
      if (!entry) return std::unexpected(std::move(entry.error()));
      if (!*entry) break;
      if (auto taken = receiver.take(**entry); !taken) return std::unexpected(std::move(taken.error()));
    }
  }
  if (::syncfs(number) != 0) return failed("writing", "");
  return receiver.kept();
}

Result<void> list_files(const std::string& directory, int to, Kept compared) {
  Lister lister(to, compared);
  if (auto walked = Walk(lister).run(directory); !walked) return walked;
  return lister.end();
}

Result<std::string> state_of_files(const std::string& directory) {
  Fingerprint fingerprint;
  if (auto walked = Walk(fingerprint).run(directory); !walked) return std::unexpected(std::move(walked.error()));
  return fingerprint.end();
}

}  // namespace liqoctl
