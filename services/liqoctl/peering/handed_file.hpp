// A file with an object that the administrator of the other cluster handed over.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "session/session.hpp"

namespace liqoctl {

struct HandedFile {
  std::string path;  ///< "-" = standard input
  std::string peer;  ///< the cluster that it must belong to; "" = any
};

/// `--filename` and `--remote-cluster-id`.
void add_handed_file(cli::Command app, HandedFile& file, std::string_view what);

/// The first object of that kind in the file.
Result<Object> read_object(Session& session, const HandedFile& file, const kube::Resource& resource);

/// The cluster that the object belongs to. Errors: Errc::invalid_input if it names none, or another one than `peer`.
Result<std::string> read_peer(const HandedFile& file, const Object& object);

/// Prints which fields of the object are ignored.
void report_left_out(Session& session, const HandedFile& file, const std::vector<std::string>& fields);

}  // namespace liqoctl
