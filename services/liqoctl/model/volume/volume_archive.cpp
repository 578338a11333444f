#include "model/volume/volume_archive.hpp"

#include <algorithm>
#include <concepts>
#include <utility>

namespace liqoctl::model {
namespace {

using kube::Errc;
using Kind = ArchiveEntry::Kind;

constexpr std::size_t header_size = 5;
constexpr std::uint32_t all_permissions = 07777, second = 1'000'000'000;

template <std::unsigned_integral Number>
void put(std::string& into, Number number) {
  for (std::size_t shift = sizeof(Number) * 8; shift > 0; shift -= 8)
    into.push_back(static_cast<char>(static_cast<std::uint8_t>(number >> (shift - 8))));
}

void put_meta(std::string& into, const FileMeta& meta) {
  put(into, meta.mode);
  put(into, meta.uid);
  put(into, meta.gid);
  put(into, static_cast<std::uint64_t>(meta.seconds));
  put(into, meta.nanoseconds);
}

void put_text(std::string& into, std::string_view text) {
  put(into, static_cast<std::uint32_t>(text.size()));
  into.append(text);
}

/// Reads what put() has written. Once a part is missing, all later parts count as missing.
class Payload {
 public:
  explicit Payload(std::string_view bytes) : bytes_(bytes) {}

  template <std::unsigned_integral Number>
  Number number() {
    std::uint64_t number = 0;
    for (const char byte : take(sizeof(Number))) number = number << 8 | static_cast<std::uint8_t>(byte);
    return static_cast<Number>(number);
  }
  FileMeta meta() {
    return {.mode = number<std::uint32_t>(),
            .uid = number<std::uint32_t>(),
            .gid = number<std::uint32_t>(),
            .seconds = static_cast<std::int64_t>(number<std::uint64_t>()),
            .nanoseconds = number<std::uint32_t>()};
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  std::string rest() { return std::string(take(bytes_.size())); }
  bool is_whole() const { return !is_short_ && bytes_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      is_short_ = true;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool is_short_ = false;
};

std::unexpected<kube::Failure> broken(std::string what) {
  return kube::fail(Errc::protocol, "the stream of files is broken: " + std::move(what));
}

}  // namespace

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && name != "." && name != ".." && !name.contains('/') &&
         !name.contains('\0');
}

bool is_inner_path(std::string_view path) {
  std::size_t depth = 0;
  while (true) {
    const std::size_t slash = path.find('/');
    if (!is_file_name(path.substr(0, slash)) || ++depth > max_depth) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void encode(const ArchiveEntry& entry, std::string& into) {
  std::string payload;
  switch (entry.kind) {
    case Kind::directory:
      put_meta(payload, entry.meta);
      put_text(payload, entry.name);
      break;
    case Kind::file:
      put_meta(payload, entry.meta);
      put(payload, entry.size);
      put_text(payload, entry.name);
      break;
    case Kind::symlink:
      put_meta(payload, entry.meta);
      put_text(payload, entry.name);
      put_text(payload, entry.text);
      break;
    case Kind::hard_link:
      put_text(payload, entry.name);
      put_text(payload, entry.text);
      break;
    case Kind::bytes:
    case Kind::file_end:
      payload = entry.text;
      break;
    case Kind::end:
      put(payload, entry.count);
      put(payload, entry.size);
      break;
    case Kind::up:
      break;
  }
  into.push_back(static_cast<char>(entry.kind));
  put_text(into, payload);
}

kube::Result<ArchiveEntry> ArchiveReader::decode(char kind, std::string_view payload) const {
  Payload from(payload);
  ArchiveEntry entry{.kind = static_cast<Kind>(kind)};
  switch (entry.kind) {
    case Kind::directory:
      entry.meta = from.meta();
      entry.name = from.text();
      break;
    case Kind::file:
      entry.meta = from.meta();
      entry.size = from.number<std::uint64_t>();
      entry.name = from.text();
      break;
    case Kind::symlink:
      entry.meta = from.meta();
      entry.name = from.text();
      entry.text = from.text();
      break;
    case Kind::hard_link:
      entry.name = from.text();
      entry.text = from.text();
      break;
    case Kind::bytes:
    case Kind::file_end:
      entry.text = from.rest();
      break;
    case Kind::end:
      entry.count = from.number<std::uint64_t>();
      entry.size = from.number<std::uint64_t>();
      break;
    case Kind::up:
      break;
    default:
      return broken("an entry of no known kind");
  }
  if (!from.is_whole()) return broken("an entry of another length than it says");
  if (entry.meta.mode > all_permissions || entry.meta.nanoseconds >= second) return broken("permissions or a time");
  return entry;
}

kube::Result<void> ArchiveReader::follow(const ArchiveEntry& entry) {
  const bool is_named = entry.kind == Kind::directory || entry.kind == Kind::file || entry.kind == Kind::symlink ||
                        entry.kind == Kind::hard_link;
  const bool is_content = entry.kind == Kind::bytes || entry.kind == Kind::file_end;
  if (is_content != in_file_) return broken("content without a file, or a file without its end");
  if (count_ == 0 && (entry.kind != Kind::directory || !entry.name.empty()))
    return broken("it does not begin with a directory");
  if (count_ > 0 && (depth_ == 0) != (entry.kind == Kind::end)) return broken("something outside of its directory");
  if (is_named && count_ > 0 && !is_file_name(entry.name)) return broken("a name that no file can have");
  if (is_named) ++count_;
  switch (entry.kind) {
    case Kind::directory:
      if (++depth_ > max_depth)
        return kube::fail(Errc::too_large,
                          "directories are nested deeper than " + std::to_string(max_depth) + " levels");
      break;
    case Kind::up:
      --depth_;
      break;
    case Kind::file:
      in_file_ = true;
      left_ = entry.size;
      break;
    case Kind::bytes:
      if (entry.text.empty() || entry.text.size() > left_) return broken("a file with another size than it says");
      left_ -= entry.text.size();
      bytes_ += entry.text.size();
      break;
    case Kind::file_end:
      if (left_ > 0 || entry.text.size() != digest_size) return broken("a file that ends too soon");
      in_file_ = false;
      break;
    case Kind::symlink:
      if (entry.text.empty() || entry.text.size() > max_link || entry.text.contains('\0'))
        return broken("a link that leads nowhere");
      break;
    case Kind::hard_link:
      if (!is_inner_path(entry.text)) return broken("a link to what is not in it");
      break;
    case Kind::end:
      if (entry.count != count_ || entry.size != bytes_) return broken("files are missing");
      ended_ = true;
      break;
  }
  return {};
}

kube::Result<std::optional<ArchiveEntry>> ArchiveReader::next() {
  const std::string_view left = std::string_view(pending_).substr(at_);
  const auto wait_for_more = [&]() -> kube::Result<std::optional<ArchiveEntry>> {
    pending_.erase(0, std::exchange(at_, 0));
    return std::nullopt;
  };
  if (ended_) {
    if (!left.empty()) return broken("something follows its end");
    return std::nullopt;
  }
  if (!begun_) {
    const std::size_t seen = std::min(left.size(), archive_magic.size());
    if (left.substr(0, seen) != archive_magic.substr(0, seen))
      return broken("it is none of liqoctl, or of another version of it");
    if (seen < archive_magic.size()) return wait_for_more();
    begun_ = true;
    at_ += seen;
    return next();
  }
  if (left.size() < header_size) return wait_for_more();
  const std::size_t size = Payload(left.substr(1, header_size - 1)).number<std::uint32_t>();
  const std::size_t max_size = left[0] == static_cast<char>(Kind::hard_link) ? max_path + 512 : archive_chunk;
  if (size > max_size)
    return kube::fail(Errc::too_large, "the stream of files has an entry of " + std::to_string(size) + " bytes");
  if (left.size() < header_size + size) return wait_for_more();
  KUBE_TRY(entry, decode(left[0], left.substr(header_size, size)));
  KUBE_TRYV(follow(entry));
  at_ += header_size + size;
  return std::optional<ArchiveEntry>(std::move(entry));
}

}  // namespace liqoctl::model
