// The stream of a volume's files: it is read as it was written, and any other stream is refused.
#include "model/volume/volume_archive.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace liqoctl;
using model::ArchiveEntry;
using Kind = ArchiveEntry::Kind;

const std::string digest(model::digest_size, 'x');
const ArchiveEntry root{.kind = Kind::directory, .meta = {.mode = 0755}};
const ArchiveEntry up{.kind = Kind::up};

std::vector<ArchiveEntry> some_files() {
  return {root,
          {.kind = Kind::directory,
           .name = "db",
           .meta = {.mode = 02770, .uid = 70, .gid = 71, .seconds = -5, .nanoseconds = 7}},
          {.kind = Kind::file, .name = "table", .meta = {.mode = 0600, .uid = 0xffffffff}, .size = 5},
          {.kind = Kind::bytes, .text = std::string("ab\0", 3)},
          {.kind = Kind::bytes, .text = "cd"},
          {.kind = Kind::file_end, .text = digest},
          {.kind = Kind::symlink, .name = "link", .meta = {.mode = 0777}, .text = "../../etc/passwd"},
          {.kind = Kind::hard_link, .name = "same", .text = "db/table"},
          up,
          {.kind = Kind::file, .name = "empty", .meta = {.mode = 04755}},
          {.kind = Kind::file_end, .text = digest},
          up,
          {.kind = Kind::end, .size = 5, .count = 6}};
}

std::string stream_of(const std::vector<ArchiveEntry>& entries) {
  std::string stream(model::archive_magic);
  for (const ArchiveEntry& entry : entries) encode(entry, stream);
  return stream;
}

/// The entries of a stream that is fed in pieces of that size, and the text of its failure if it has one.
std::vector<ArchiveEntry> read(const std::string& stream, std::size_t piece, std::string& failure, bool& ended) {
  model::ArchiveReader reader;
  std::vector<ArchiveEntry> entries;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.feed(std::string_view(stream).substr(at, piece));
    while (true) {
      auto next = reader.next();
      if (!next) {
        failure = next.error().text();
        return entries;
      }
      if (!*next) break;
      entries.push_back(std::move(**next));
    }
  }
  ended = reader.ended();
  return entries;
}

std::string why_refused(const std::vector<ArchiveEntry>& entries) {
  std::string failure;
  bool ended = false;
  read(stream_of(entries), 4096, failure, ended);
  CHECK_FALSE(ended);
  return failure;
}

}  // namespace

TEST_CASE("files are read as they were written, however the stream is cut") {
  const std::string stream = stream_of(some_files());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    std::string failure;
    bool ended = false;
    CHECK(read(stream, piece, failure, ended) == some_files());
    CHECK(failure == "");
    CHECK(ended);
  }
}

TEST_CASE("a stream that is cut off is not at its end") {
  const std::string stream = stream_of(some_files());
  for (std::size_t size = 0; size < stream.size(); ++size) {
    std::string failure;
    bool ended = false;
    read(stream.substr(0, size), stream.size(), failure, ended);
    CHECK(failure == "");
    CHECK_FALSE(ended);
  }
}

TEST_CASE("no name leads out of the directory") {
  const std::string longest(model::max_name, 'n');
  CHECK(model::is_file_name(longest));
  CHECK(model::is_inner_path("a/" + longest));
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                  std::string("/"), std::string("a\0b", 3), longest + "n"}) {
    CAPTURE(name);
    CHECK_FALSE(model::is_file_name(name));
    CHECK(why_refused({root, {.kind = Kind::directory, .name = name}}).contains("a name that no file can have"));
    CHECK(why_refused({root, {.kind = Kind::file, .name = name}}).contains("a name that no file can have"));
    CHECK(why_refused({root, {.kind = Kind::symlink, .name = name, .text = "x"}})
              .contains("a name that no file can have"));
    CHECK(why_refused({root, {.kind = Kind::hard_link, .name = name, .text = "x"}})
              .contains("a name that no file can have"));
  }
  for (const std::string_view path : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a"}) {
    CAPTURE(path);
    CHECK(why_refused({root, {.kind = Kind::hard_link, .name = "n", .text = std::string(path)}})
              .contains("a link to what is not in it"));
  }
}

TEST_CASE("what is in no order is refused") {
  const ArchiveEntry file{.kind = Kind::file, .name = "f", .size = 2}, two{.kind = Kind::bytes, .text = "ab"},
      end_of_file{.kind = Kind::file_end, .text = digest};
  CHECK(why_refused({file}).contains("does not begin with a directory"));
  CHECK(why_refused({{.kind = Kind::directory, .name = "named"}}).contains("does not begin with a directory"));
  CHECK(why_refused({root, root}).contains("a name"));
  CHECK(why_refused({root, two}).contains("content without a file"));
  CHECK(why_refused({root, file, up}).contains("a file without its end"));
  CHECK(why_refused({root, file, {.kind = Kind::bytes, .text = "abc"}}).contains("another size"));
  CHECK(why_refused({root, file, {.kind = Kind::bytes}}).contains("another size"));
  CHECK(why_refused({root, file, end_of_file}).contains("ends too soon"));
  CHECK(why_refused({root, file, two, {.kind = Kind::file_end, .text = "short"}}).contains("ends too soon"));
  CHECK(why_refused({root, up, file}).contains("outside of its directory"));
  CHECK(why_refused({root, up, up}).contains("outside of its directory"));
  CHECK(why_refused({root, {.kind = Kind::end}}).contains("outside of its directory"));
  CHECK(why_refused({root, {.kind = Kind::symlink, .name = "l"}}).contains("leads nowhere"));
  CHECK(why_refused({root, {.kind = Kind::directory, .name = "d", .meta = {.mode = 0100644}}}).contains("permissions"));
}

TEST_CASE("a stream from which files are missing is refused") {
  auto entries = some_files();
  SUBCASE("by number") { entries.back().count = 7; }
  SUBCASE("by size") { entries.back().size = 6; }
  CHECK(why_refused(entries).contains("files are missing"));
}

TEST_CASE("everything in a stream has bounds") {
  std::vector<ArchiveEntry> deep{root};
  for (std::size_t level = 1; level < model::max_depth; ++level) deep.push_back({.kind = Kind::directory, .name = "d"});
  CHECK(why_refused(deep) == "");
  deep.push_back({.kind = Kind::directory, .name = "d"});
  CHECK(why_refused(deep).contains("nested deeper than 256 levels"));
  CHECK(why_refused({root,
                     {.kind = Kind::file, .name = "f", .size = 1U << 20},
                     {.kind = Kind::bytes, .text = std::string(model::archive_chunk + 1, 'x')}})
            .contains("an entry of 131073 bytes"));
}

TEST_CASE("what is no such stream is refused at once") {
  for (const std::string stream : {"tar", "liqo volume 2\n", "liqo volume 1\n?\0\0\0\0"}) {
    std::string failure;
    bool ended = false;
    std::string whole = stream;
    if (stream.ends_with('?')) whole += std::string(4, '\0');
    read(whole, 64, failure, ended);
    CHECK(failure.starts_with("the stream of files is broken"));
  }
  std::string behind = stream_of(some_files()) + "x", failure;
  bool ended = false;
  read(behind, behind.size(), failure, ended);
  CHECK(failure.contains("something follows its end"));
}
