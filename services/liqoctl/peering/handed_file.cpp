#include "peering/handed_file.hpp"

#include "kube/base/text.hpp"
#include "model/peer/handed_over.hpp"
#include "session/documents.hpp"

namespace liqoctl {

using kube::Errc;

void add_handed_file(cli::Command app, HandedFile& file, std::string_view what) {
  app.option("-f,--filename", file.path, what).required().type_name("FILE");
  app.option("--remote-cluster-id", file.peer, "Refuse the file if it is not of this cluster").type_name("ID");
}

Result<Object> read_object(Session& session, const HandedFile& file, const kube::Resource& resource) {
  KUBE_TRY(documents, read_documents_or_input(file.path, session.terminal().input()));
  for (kube::json::value& document : documents)
    if (kube::string_at(document, {"kind"}) == resource.kind) return Object::from(std::move(document));
  return kube::fail(Errc::invalid_input, file.path + " has no " + std::string(resource.kind));
}

Result<std::string> read_peer(const HandedFile& file, const Object& object) {
  auto peer = model::cluster_of(object);
  if (!peer) return kube::fail(std::move(peer.error()), file.path);
  if (file.peer.empty() || file.peer == *peer) return peer;
  return kube::fail(Errc::invalid_input, "the " + std::string(object.kind()) + " in " + file.path + " is of cluster " +
                                             *peer + ", not of " + file.peer);
}

void report_left_out(Session& session, const HandedFile& file, const std::vector<std::string>& fields) {
  if (fields.empty()) return;
  session.output().warn("", "left out of what " + file.path +
                                " says, because it is not for the other cluster to set: " + kube::join(fields, ", "));
}

}  // namespace liqoctl
