#include "kube/base/hex.hpp"
#include "volumes/files.hpp"
#include "volumes/walk.hpp"
#include "volumes/writer.hpp"

namespace liqoctl {
namespace {

using kube::Result;

std::string octal(unsigned number, std::size_t digits) {
  std::string made(digits, '0');
  for (std::size_t at = digits; at > 0; number >>= 3) made[--at] = static_cast<char>('0' + (number & 7));
  return made;
}

/// A name on one line. Different names have different lines. It has no blanks, because blanks separate it from other
/// words: a link "a" to "b to c" differs from a link "a to b" to "c".
std::string escaped(std::string_view name) {
  std::string made;
  for (const char c : name)
    if (c == '\\' || static_cast<unsigned char>(c) <= ' ' || c == '\x7f')
      made += "\\" + octal(static_cast<unsigned char>(c), 3);
    else
      made.push_back(c);
  return made;
}

class Lister final : public Visitor {
 public:
  Lister(int to, Kept compared) : out_(to), compared_(compared) {}
  Result<void> end() {
    // The previous line has already ended with a line break.
    out_.buffer() += volume_end.substr(1);
    return out_.flush();
  }

  Result<void> enter(const WalkedFile& directory) override {
    return line("directory", directory.about, "0 -", directory.path.empty() ? "." : escaped(directory.path));
  }
  Result<void> file(const WalkedFile& file, int parent) override {
    Digest digest;
    KUBE_TRYV(read_file(parent, file, [&](const std::string& piece) -> Result<void> {
      digest.add(piece);
      return {};
    }));
    return line("file", file.about, std::to_string(file.about.st_size) + " " + kube::hex(digest.end()),
                escaped(file.path));
  }
  Result<void> symlink(const WalkedFile& link, const std::string& target) override {
    struct stat without_mode = link.about;
    without_mode.st_mode = 0777;
    return line("link", without_mode, "0 -", escaped(link.path) + " to " + escaped(target));
  }
  Result<void> hard_link(const WalkedFile& link, const std::string& first) override {
    out_.buffer() += "name " + escaped(link.path) + " of " + escaped(first) + "\n";
    return out_.flush_when_full();
  }

 private:
  /// `content` is the size and the digest.
  Result<void> line(std::string_view kind, const struct stat& about, const std::string& content,
                    const std::string& path) {
    const std::string mode = compared_.modes ? octal(about.st_mode & permissions, 4) : "-";
    const std::string owner =
        compared_.owners ? std::to_string(about.st_uid) + ":" + std::to_string(about.st_gid) : "-";
    out_.buffer() += std::string(kind) + " " + mode + " " + owner + " " + content + " " + path + "\n";
    return out_.flush_when_full();
  }

  Writer out_;
  Kept compared_;
};

class Fingerprint final : public Visitor {
 public:
  std::string end() { return kube::hex(digest_.end()); }

  Result<void> enter(const WalkedFile& directory) override { return add(directory); }
  Result<void> file(const WalkedFile& file, int) override { return add(file); }
  Result<void> symlink(const WalkedFile& link, const std::string& target) override {
    digest_.add(escaped(target) + "\n");
    return add(link);
  }
  Result<void> hard_link(const WalkedFile& link, const std::string& first) override {
    digest_.add(escaped(link.path) + "\n" + escaped(first) + "\n");
    return {};
  }

 private:
  Result<void> add(const WalkedFile& walked) {
    const struct stat& about = walked.about;
    digest_.add(escaped(walked.path) + "\n");
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

Result<void> list_files(const std::string& directory, int to, Kept compared) {
  Lister lister(to, compared);
  KUBE_TRYV(walk(directory, lister));
  return lister.end();
}

Result<std::string> state_of_files(const std::string& directory) {
  Fingerprint fingerprint;
  KUBE_TRYV(walk(directory, fingerprint));
  return fingerprint.end();
}

}  // namespace liqoctl
