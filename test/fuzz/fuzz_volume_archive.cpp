// Any bytes as the files of a volume: whatever comes, what is read is in order and within bounds, and reads as the same
// again once it is written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/volume/volume_archive.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace liqoctl::model;
  using Kind = ArchiveEntry::Kind;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ArchiveReader reader;
  std::string written(archive_magic);
  std::size_t depth = 0;
  // The first half and the rest, as a stream may be cut.
  for (const std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    reader.feed(piece);
    while (true) {
      const auto next = reader.next();
      if (!next && next.error().text().empty()) std::abort();
      if (!next) return 0;
      if (!*next) break;
      const ArchiveEntry& entry = **next;
      if (entry.kind == Kind::directory && ++depth > max_depth) std::abort();
      if (entry.kind == Kind::up && depth-- == 0) std::abort();
      const bool is_named = entry.kind == Kind::file || entry.kind == Kind::symlink || entry.kind == Kind::hard_link;
      if ((is_named || (entry.kind == Kind::directory && depth > 1)) && !is_file_name(entry.name)) std::abort();
      if (entry.kind == Kind::hard_link && !is_inner_path(entry.text)) std::abort();
      encode(entry, written);
    }
  }
  if (!bytes.starts_with(written) && !written.starts_with(bytes)) std::abort();
  if (reader.ended() && written != bytes) std::abort();
  return 0;
}
