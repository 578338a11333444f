// The namespace of Liqo at a provider.
#include "model/peer/remote_namespace.hpp"

#include <doctest/doctest.h>

using namespace liqoctl;

TEST_CASE(
    "the namespace of a provider's Liqo is noted where it is not the usual one, and the note goes with the reason") {
  constexpr std::string_view key = "liqo.io/remote-liqo-namespace";
  kube::Object peer(kube::json::parse(R"({"metadata": {"name": "milan", "annotations": {"mine": "x"}}})").as_object());
  CHECK_FALSE(model::note_remote_namespace(peer, "liqo"));
  CHECK(model::note_remote_namespace(peer, "liqo-system"));
  CHECK(peer.annotation(key) == "liqo-system");
  CHECK_FALSE(model::note_remote_namespace(peer, "liqo-system"));
  CHECK(model::note_remote_namespace(peer, "elsewhere"));
  CHECK(peer.annotation(key) == "elsewhere");
  CHECK(model::note_remote_namespace(peer, "liqo"));
  CHECK_FALSE(peer.has_annotation(key));
  CHECK(peer.annotation("mine") == "x");
}
