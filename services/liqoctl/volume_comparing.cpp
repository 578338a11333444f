#include "volume_files.hpp"
#include "volume_output.hpp"
#include "volume_walk.hpp"

namespace liqoctl {
namespace {

using kube::Result;

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

Result<void> list_files(const std::string& directory, int to, Kept compared) {
  Lister lister(to, compared);
  if (auto walked = walk(directory, lister); !walked) return walked;
  return lister.end();
}

Result<std::string> state_of_files(const std::string& directory) {
  Fingerprint fingerprint;
  if (auto walked = walk(directory, fingerprint); !walked) return std::unexpected(std::move(walked.error()));
  return fingerprint.end();
}

}  // namespace liqoctl
