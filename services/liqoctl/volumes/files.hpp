// The files of a volume, as the helper pods of `liqoctl move volume` read, write and compare them. The calls block:
// they are for programs that do nothing else.
// Tested by test/unit/programs/volume_files_test.py.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl {

/// The last line of each of these programs except the sender: without it, a list was cut off.
inline constexpr std::string_view volume_end = "\nend\n";

/// Writes the files below `directory` to the descriptor, as model::ArchiveReader reads them. Sockets, pipes and devices
/// are left out, each with a line on `notes`, and so is the file system's own lost+found.
kube::Result<void> send_files(const std::string& directory, int to, std::string& notes);

/// What the file system of the target cannot keep.
struct Kept {
  bool owners = true, modes = true;
};
/// Empties the directory, and fills it from the descriptor, which is not trusted: nothing is written outside of the
/// directory, and only files, directories and links are made. All is on the disk when it answers.
kube::Result<Kept> receive_files(const std::string& directory, int from);

/// Writes a line for each file below the directory to the descriptor: its kind, permissions, owner, size, SHA-256 and
/// name, in an order that is the same everywhere. Two directories with the same lines have the same content.
kube::Result<void> list_files(const std::string& directory, int to, Kept compared);

/// A line that changes when a file below the directory is written, made, removed or renamed. It reads no content.
kube::Result<std::string> state_of_files(const std::string& directory);

}  // namespace liqoctl
