// Reads, writes and compares the files of a volume, in the helper pods of `liqoctl move volume`. The calls block,
// because the programs there do nothing else.
// Tested by test/unit/programs/volume_files_test.py.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace liqoctl {

/// The last line of each of these programs except the sender. Without it, a list was cut off.
inline constexpr std::string_view volume_end = "\nend\n";

/// Writes the files below `directory` to the descriptor, in the form for model::ArchiveReader. It leaves out sockets,
/// pipes and devices, each with a line in `notes`, and the file system's own lost+found.
kube::Result<void> send_files(const std::string& directory, int to, std::string& notes);

/// Whether the file system of the target keeps owners and permissions.
struct Kept {
  bool owners = true, modes = true;
};
/// Empties the directory, and fills it from the descriptor, which is not trusted: nothing is written outside of the
/// directory, and only files, directories and links are created. All is on the disk when it returns.
kube::Result<Kept> receive_files(const std::string& directory, int from);

/// Writes a line for each file below the directory to the descriptor: its kind, permissions, owner, size, SHA-256 and
/// name, in an order that is the same everywhere. Two directories with the same lines have the same content.
kube::Result<void> list_files(const std::string& directory, int to, Kept compared);

/// A line that changes when a file below the directory is written, created, removed or renamed. It reads no content.
kube::Result<std::string> state_of_files(const std::string& directory);

}  // namespace liqoctl
