// The stream in which the files of a volume travel from one cluster to another. It has no paths: directories are
// entered and left, and their entries have the name of one file. So nothing in a stream can lead out of the directory
// in which it is unpacked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl::model {

/// The metadata of a file that is kept.
struct FileMeta {
  std::uint32_t mode = 0;  ///< permissions, at most 07777
  std::uint32_t uid = 0, gid = 0;
  std::int64_t seconds = 0;  ///< of its last change
  std::uint32_t nanoseconds = 0;
  bool operator==(const FileMeta&) const = default;
};

struct ArchiveEntry {
  /// The first entry is the directory itself, without a name. A file is followed by its content and its end.
  enum class Kind : char {
    directory = 'D',
    up = 'U',  ///< out of the directory
    file = 'F',
    bytes = 'B',
    file_end = 'E',
    symlink = 'L',
    hard_link = 'H',  ///< another name of a file that came before
    end = 'Z',
  };
  Kind kind = Kind::end;
  std::string name = {};    ///< of directory, file, symlink, hard_link
  FileMeta meta = {};       ///< of directory, file, symlink
  std::uint64_t size = 0;   ///< of file; of `end` the bytes of all files
  std::uint64_t count = 0;  ///< of `end`: the entries with a name
  /// The target of a symlink; for a hard_link the path of the file, from the first directory; for `bytes` the content;
  /// for `file_end` the SHA-256 of the whole content.
  std::string text = {};
  bool operator==(const ArchiveEntry&) const = default;
};

inline constexpr std::string_view archive_magic = "liqo volume 1\n";
/// Bounds of a stream. max_name is that of file systems.
inline constexpr std::size_t max_name = 255, max_link = 4095, max_depth = 256, archive_chunk = 128 * 1024,
                             max_path = max_depth * (max_name + 1), digest_size = 32;

/// Whether a directory can have a file of that name.
bool is_file_name(std::string_view name);
/// Whether each part of the path is such a name.
bool is_inner_path(std::string_view path);

/// Appends the entry to a stream, which begins with `archive_magic`. `bytes` has at most archive_chunk bytes.
void encode(const ArchiveEntry& entry, std::string& into);

/// Reads a stream from an untrusted sender, cut at any place. The returned entries are consistent: directories are left
/// as often as entered, content has the announced size, counts are right.
class ArchiveReader {
 public:
  void feed(std::string_view bytes) { pending_.append(bytes); }
  /// The next entry; no value if more bytes are needed, and after the end. Errors: Errc::protocol, Errc::too_large.
  kube::Result<std::optional<ArchiveEntry>> next();
  bool ended() const { return ended_; }

 private:
  kube::Result<ArchiveEntry> decode(char kind, std::string_view payload) const;
  kube::Result<void> follow(const ArchiveEntry& entry);

  std::string pending_;
  std::size_t at_ = 0;  ///< read so far of `pending_`
  bool begun_ = false, ended_ = false, in_file_ = false;
  std::size_t depth_ = 0;
  std::uint64_t left_ = 0;  ///< of the file
  std::uint64_t count_ = 0, bytes_ = 0;
};

}  // namespace liqoctl::model
