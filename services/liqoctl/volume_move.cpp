#include "volume_move.hpp"

#include <array>
#include <boost/asio/this_coro.hpp>

#include "kube/async/finally.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/storage/volume.hpp"
#include "liqod_version.hpp"
#include "model/volume_move.hpp"
#include "move_lock.hpp"
#include "remote_program.hpp"
#include "text/width.hpp"
#include "wait.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace labels = liqo::api::labels;
namespace resources = kube::resources;
using kube::Errc;
using kube::ObjectKey;
using kube::string_at;
using model::MoveRecord;
using Answer = asio::awaitable<Result<void>>;

/// For what takes seconds: that a volume is made, that a pod runs.
constexpr kube::Duration patience = std::chrono::minutes(5);
/// At copying, where connections are cut.
constexpr int attempts = 5;

std::string cluster_in_words(std::string_view cluster) {
  return cluster.empty() ? "this cluster" : "cluster " + std::string(cluster);
}

std::string phase_of(const Object& object) { return std::string(string_at(object.status(), {"phase"})); }

/// Where a node is, by its name: the provider, "" = this cluster.
std::string cluster_of(const Object& node) {
  return node.label(labels::type) == labels::type_virtual_node ? std::string(node.label(labels::remote_cluster_id))
                                                               : "";
}

bool is_ready(const Object& node) {
  for (const json::value& condition : kube::array_at(node.status(), {"conditions"}))
    if (string_at(condition, {"type"}) == "Ready") return string_at(condition, {"status"}) == "True";
  return false;
}

/// One move. One thread.
class Mover {
 public:
  Mover(Session& session, Cluster& cluster, const MoveLock& lock, const VolumeMove& asked)
      : session_(session), cluster_(cluster), lock_(lock), asked_(asked), ns_(cluster.ns()) {}

  /// Goes on with a move that was begun, and then moves what is not where it is to be.
  Answer run() {
    auto record = co_await find_record();
    if (!record) co_return std::unexpected(std::move(record.error()));
    if (*record) {
      auto resumed = co_await resume((*record)->second, (*record)->first);
      if (!resumed) co_return std::unexpected(std::move(resumed.error()));
      if (*resumed) co_return Result<void>();
    }
    auto ready = co_await prepare();
    if (!ready) co_return ready;
    auto carried = co_await carry();
    if (!carried) {
      if (is_locked_)
        co_return kube::fail(std::move(carried.error()), "claim " + claim_key().text() +
                                                             " comes back when the same command is run again; its "
                                                             "data is in PersistentVolume " +
                                                             record_.source);
      (void)co_await remove_carriers();
      co_return carried;
    }
    co_return co_await finish(record_, copy_);
  }

 private:
  ObjectKey claim_key() const { return {ns_, asked_.claim}; }
  ObjectKey copy_key() const { return {ns_, model::move_name(asked_.claim)}; }
  ObjectKey carrier_key(bool writes) const {
    return {ns_, model::move_name(asked_.claim) + (writes ? "-to" : "-from")};
  }
  kube::Deadline soon() const { return {std::min(session_.deadline().at, cluster_.clock().now() + patience)}; }
  void say(const std::string& what) { cluster_.output().info(cluster_.scope(), what); }
  std::string words() const { return "the volume of claim " + claim_key().text(); }

  Result<void> still_mine() const {
    if (lock_.is_held()) return {};
    return kube::fail(Errc::stopped, "the Lease " + copy_key().text() +
                                         " could not be renewed, so another move may have begun; run " +
                                         "the same command again");
  }

  // -- what there is ----------------------------------------------------------------------------------------------

  using Found = std::optional<std::pair<std::string, MoveRecord>>;

  /// Of a move of this claim that was begun: the volume that has the copy.
  asio::awaitable<Result<Found>> find_record() {
    auto volumes = co_await cluster_.list(kinds::volumes, "");
    if (!volumes) co_return std::unexpected(std::move(volumes.error()));
    for (const Object& volume : *volumes)
      if (auto record = model::read_record(volume); record && record->claim.key() == claim_key())
        co_return Found(std::pair(std::string(volume.name()), std::move(*record)));
    co_return Found();
  }

  asio::awaitable<Result<Object>> existing(const kube::Resource& kind, ObjectKey key) {
    auto found = co_await cluster_.find(kind, key);
    if (!found) co_return std::unexpected(std::move(found.error()));
    if (!*found)
      co_return kube::fail(Errc::missing, "there is no " + std::string(kind.kind) + " " + key.text() + " in cluster " +
                                              cluster_.scope());
    co_return std::move(**found);
  }

  Answer check_users(std::string_view when) {
    auto pods = co_await cluster_.list(resources::pods, ns_);
    if (!pods) co_return std::unexpected(std::move(pods.error()));
    const std::array carriers{carrier_key(false).name, carrier_key(true).name};
    const auto users = model::users_of(*pods, asked_.claim, carriers);
    if (users.empty()) co_return Result<void>();
    std::string named;
    for (std::size_t i = 0; i < users.size() && i < 5; ++i) named += (i ? ", " : "") + users[i];
    if (users.size() > 5) named += " and " + std::to_string(users.size() - 5) + " more";
    co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is used by " + named +
                                                  std::string(when) +
                                                  ": end these pods (scale down what makes them), and run it again");
  }

  /// The node of the source's cluster on which its pod runs; "" = the scheduler chooses.
  asio::awaitable<Result<std::string>> node_of_source(const Object& claim, std::string cluster) {
    const std::string noted(claim.annotation(annotations::selected_node));
    auto nodes = co_await cluster_.list(resources::nodes, "");
    if (!nodes) co_return std::unexpected(std::move(nodes.error()));
    std::string chosen;
    for (const Object& node : *nodes) {
      if (cluster_of(node) != cluster || !is_ready(node)) continue;
      if (node.name() == noted) co_return noted;
      if (!cluster.empty()) chosen = node.name();
    }
    if (!cluster.empty() && chosen.empty())
      co_return kube::fail(
          Errc::missing, "no virtual node of cluster " + cluster + ", which has the data, is Ready: see liqoctl info");
    co_return chosen;
  }

  /// Looks at everything before anything is made.
  Answer prepare() {
    auto claim = co_await existing(kinds::claims, claim_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    if (claim->is_deleting())
      co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is being deleted");
    const std::string class_name(string_at(claim->spec(), {"storageClassName"}));
    auto storage_class = co_await cluster_.find(kinds::storage_classes, {"", class_name});
    if (!storage_class) co_return std::unexpected(std::move(storage_class.error()));
    if (!*storage_class || string_at((*storage_class)->tree(), {"provisioner"}) != liqo::api::storage_provisioner)
      co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is of class '" +
                                                    text::printable(class_name) +
                                                    "': only volumes of Liqo's StorageClass can be moved");
    if (string_at(claim->spec(), {"volumeMode"}) == "Block")
      co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() +
                                                    " has volumeMode Block: only volumes with files can be moved");
    auto node = co_await existing(resources::nodes, {"", asked_.node});
    if (!node) co_return std::unexpected(std::move(node.error()));
    const std::string volume_name(string_at(claim->spec(), {"volumeName"}));
    if (volume_name.empty())
      co_return kube::fail(Errc::invalid_input,
                           "claim " + claim_key().text() + " has no volume yet: its first pod decides where it is");
    auto volume = co_await existing(kinds::volumes, {"", volume_name});
    if (!volume) co_return std::unexpected(std::move(volume.error()));
    // A claim may name any volume of the cluster.
    if (phase_of(*claim) != "Bound" || !liqo::core::storage::is_volume_of(*volume, *claim))
      co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " is not bound to PersistentVolume " +
                                                    volume_name + ", which it names");
    const auto backing = liqo::core::storage::backing_of(*volume);
    if (!backing)
      co_return kube::fail(Errc::invalid_input,
                           "PersistentVolume " + volume_name + " does not say where its data is: it is none of liqod");
    const std::string target = cluster_of(*node);
    if (target == backing->cluster)
      co_return kube::fail(Errc::invalid_input, "node " + asked_.node + " is of " + cluster_in_words(target) +
                                                    ", where the data is already: name a node of another cluster");
    if (auto free = co_await check_users(""); !free) co_return free;
    auto source_node = co_await node_of_source(*claim, backing->cluster);
    if (!source_node) co_return std::unexpected(std::move(source_node.error()));
    source_node_ = std::move(*source_node);
    target_ = target;
    auto image = co_await find_image();
    if (!image) co_return std::unexpected(std::move(image.error()));
    image_ = std::move(*image);
    record_ = {.claim = model::claim_to_keep(*claim),
               .uid = std::string(claim->uid()),
               .node = asked_.node,
               .source = volume_name,
               .where = backing->cluster,
               .policy = std::string(string_at(volume->spec(), {"persistentVolumeReclaimPolicy"})),
               .former_node = std::string(claim->annotation(annotations::selected_node))};
    claim_ = std::move(*claim);
    co_return Result<void>();
  }

  asio::awaitable<Result<std::string>> find_image() {
    if (!asked_.image.empty()) co_return asked_.image;
    auto image = co_await read_liqod_image(cluster_);
    if (!image) co_return std::unexpected(std::move(image.error()));
    if (image->empty())
      co_return kube::fail(Errc::missing, "there is no Deployment of liqod in namespace " + cluster_.liqo_namespace() +
                                              " to take the image from: name one with --image");
    co_return image;
  }

  // -- copying ----------------------------------------------------------------------------------------------------

  Answer carry() {
    if (auto gone = co_await remove_carriers(); !gone) co_return gone;
    if (auto made = co_await make_copy_claim(); !made) co_return made;
    // At a provider pods find claims by their names, and the copy has the name of the claim already.
    const std::string to = target_.empty() ? copy_key().name : asked_.claim;
    if (auto made = co_await make_carrier(false, asked_.claim, source_node_); !made) co_return made;
    if (auto made = co_await make_carrier(true, to, asked_.node); !made) co_return made;
    for (const bool writes : {false, true})
      if (auto runs = co_await wait_for_carrier(writes); !runs) co_return runs;
    auto before = co_await state();
    if (!before) co_return std::unexpected(std::move(before.error()));
    if (auto copied = co_await copy(); !copied) co_return copied;
    if (auto locked = co_await lock(); !locked) co_return locked;
    auto after = co_await state();
    if (!after) co_return std::unexpected(std::move(after.error()));
    if (*before != *after) {
      say("files have changed since the copy was begun: they are copied again");
      if (auto copied = co_await copy(); !copied) co_return copied;
      auto at_last = co_await state();
      if (!at_last) co_return std::unexpected(std::move(at_last.error()));
      if (*after != *at_last)
        co_return kube::fail(Errc::invalid_input, "files of " + words() + " go on changing: end what writes to them");
    }
    if (auto mine = still_mine(); !mine) co_return mine;
    record_.verified = true;
    co_return co_await note(copy_, json::object{{annotations::move_record, model::write_record(record_)}});
  }

  Answer make_copy_claim() {
    auto found = co_await cluster_.find(kinds::claims, copy_key());
    if (!found) co_return std::unexpected(std::move(found.error()));
    if (*found && (*found)->annotation(annotations::moves_claim) != asked_.claim)
      co_return kube::fail(Errc::invalid_input,
                           "there is a claim " + copy_key().text() + " of somebody else: remove it");
    if (*found && ((*found)->annotation(annotations::selected_node) != asked_.node || (*found)->is_deleting())) {
      if (auto gone = co_await remove_copy_claim(true); !gone) co_return gone;
      found->reset();
    }
    if (!*found) {
      auto made = co_await cluster_.create(kinds::claims, model::temporary_claim(claim_, asked_.node));
      if (!made) co_return kube::fail(std::move(made.error()), "making the claim for the copy");
    }
    const std::function<Look(const Object*)> look = [](const Object* claim) {
      return claim && phase_of(*claim) == "Bound" ? Look{.done = true} : Look{.seen = "it has no volume"};
    };
    auto bound = co_await wait_for_object(cluster_, soon(), kinds::claims, copy_key(),
                                          "a volume in " + cluster_in_words(target_), look, Blame::warnings);
    if (!bound) co_return bound;
    auto claim = co_await existing(kinds::claims, copy_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    copy_ = string_at(claim->spec(), {"volumeName"});
    auto volume = co_await existing(kinds::volumes, {"", copy_});
    if (!volume) co_return std::unexpected(std::move(volume.error()));
    const auto backing = liqo::core::storage::recorded_backing(*volume);
    if (!backing || backing->cluster != target_ || !liqo::core::storage::is_volume_of(*volume, *claim))
      co_return kube::fail(Errc::invalid_input, "PersistentVolume " + copy_ +
                                                    " is not the one that liqod has made for " + "the copy in " +
                                                    cluster_in_words(target_));
    co_return Result<void>();
  }

  /// `with_data`: also what is in its volume goes.
  Answer remove_copy_claim(bool with_data) {
    auto claim = co_await cluster_.find(kinds::claims, copy_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    if (!*claim) co_return Result<void>();
    const std::string volume(string_at((*claim)->spec(), {"volumeName"}));
    bool goes = false;
    if (with_data && !volume.empty()) {
      auto found = co_await cluster_.find(kinds::volumes, {"", volume});
      if (!found) co_return std::unexpected(std::move(found.error()));
      // Anybody who may make claims can have this one name any volume of the cluster.
      goes = *found && liqo::core::storage::is_volume_of(**found, **claim);
      if (goes)
        if (auto set = co_await set_policy(**found, "Delete"); !set) co_return set;
    }
    auto removed = co_await cluster_.remove(kinds::claims, copy_key(), {.uid = std::string((*claim)->uid())});
    if (!removed) co_return std::unexpected(std::move(removed.error()));
    if (auto gone = co_await wait_until_gone(kinds::claims, copy_key()); !gone) co_return gone;
    if (goes) co_return co_await wait_until_gone(kinds::volumes, {"", volume});
    co_return Result<void>();
  }

  Answer make_carrier(bool writes, std::string claim, std::string node) {
    const kube::Duration left = session_.deadline().at - cluster_.clock().now() + std::chrono::minutes(1);
    auto made = co_await cluster_.create(
        resources::pods, model::carrier({.key = carrier_key(writes),
                                         .claim = std::move(claim),
                                         .node = std::move(node),
                                         .image = image_,
                                         .writes = writes,
                                         .seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count()}));
    if (!made) co_return kube::fail(std::move(made.error()), "making a pod that carries the data");
    co_return Result<void>();
  }

  Answer wait_for_carrier(bool writes) {
    const std::function<Look(const Object*)> look = [](const Object* pod) {
      if (!pod) return Look{.seen = "it is not there"};
      for (const json::value& status : kube::array_at(pod->status(), {"containerStatuses"})) {
        if (kube::bool_at(status, {"ready"}) && phase_of(*pod) == "Running") return Look{.done = true};
        if (const auto why = string_at(status, {"state", "waiting", "reason"}); !why.empty())
          return Look{.seen = text::printable(why)};
      }
      return Look{.seen = "phase " + phase_of(*pod)};
    };
    co_return co_await wait_for_object(cluster_, soon(), resources::pods, carrier_key(writes),
                                       "pod " + carrier_key(writes).text() + " to run image " + image_, look,
                                       Blame::warnings);
  }

  Answer remove_carriers() {
    for (const bool writes : {false, true}) {
      auto removed = co_await cluster_.remove(resources::pods, carrier_key(writes));
      if (!removed) co_return std::unexpected(std::move(removed.error()));
    }
    for (const bool writes : {false, true})
      if (auto gone = co_await wait_until_gone(resources::pods, carrier_key(writes)); !gone) co_return gone;
    co_return Result<void>();
  }

  RemoteProgram program(bool writes, std::vector<std::string> words) const {
    std::vector<std::string> command{"/usr/bin/liqoctl", "volume"};
    command.insert(command.end(), words.begin(), words.end());
    command.emplace_back(model::volume_directory);
    return {carrier_key(writes), std::move(command)};
  }

  asio::awaitable<Result<std::string>> state() {
    auto state = co_await run_program(cluster_, session_.deadline(), program(false, {"state"}));
    for (int attempt = 1; !state && state.error().code() == Errc::closed && attempt < attempts; ++attempt)
      state = co_await run_program(cluster_, session_.deadline(), program(false, {"state"}));
    if (!state) co_return kube::fail(std::move(state.error()), "looking at the files of " + words());
    co_return state;
  }

  /// A connection that is cut costs a copy, not the move.
  Answer copy() {
    for (int attempt = 1;; ++attempt) {
      auto copied = co_await copy_once();
      if (copied || copied.error().code() != Errc::closed || attempt == attempts) co_return copied;
      cluster_.output().warn(cluster_.scope(), copied.error().text() + "; it is copied again");
    }
  }

  Answer copy_once() {
    Output& output = cluster_.output();
    const std::string what = "copying " + words() + " to " + cluster_in_words(target_);
    output.doing(cluster_.scope(), what);
    std::uint64_t shown = 0;
    const auto seen = [&](std::uint64_t bytes) {
      if (bytes - shown < 16U << 20) return;
      shown = bytes;
      output.doing(cluster_.scope(), what + ": " + std::to_string(bytes >> 20) + " MiB");
    };
    auto kept = co_await pipe_program(cluster_, session_.deadline(), program(false, {"send"}),
                                      program(true, {"receive"}), seen);
    if (!kept) co_return kube::fail(std::move(kept.error()), "copying " + words());
    std::vector<std::string> list{"list"};
    for (const auto& [flag, what_not] : {std::pair<std::string, std::string>{"--without-owners", "owners"},
                                         std::pair<std::string, std::string>{"--without-modes", "permissions"}})
      if (kept->contains(flag)) {
        list.push_back(flag);
        output.warn(cluster_.scope(), "the volume at the target does not keep the " + what_not + " of files");
      }
    output.doing(cluster_.scope(), "comparing the copy with " + words());
    auto compared = co_await compare_programs(cluster_, session_.deadline(), program(false, list), program(true, list));
    if (!compared) co_return kube::fail(std::move(compared.error()), "comparing the copy with " + words());
    say("copied and compared: " + std::to_string(*compared) + " files and directories");
    co_return Result<void>();
  }

  // -- switching --------------------------------------------------------------------------------------------------

  Answer change(std::string volume, json::object changes) {
    auto patched = co_await cluster_.api().patch(kinds::volumes, {"", std::move(volume)}, kube::PatchType::merge,
                                                 json::serialize(changes));
    if (!patched) co_return std::unexpected(std::move(patched.error()));
    co_return Result<void>();
  }
  Answer note(std::string volume, json::object notes) {
    return change(std::move(volume), json::object{{"metadata", json::object{{"annotations", std::move(notes)}}}});
  }
  Answer set_policy(std::string volume, std::string policy) {
    return change(std::move(volume), json::object{{"spec", json::object{{"persistentVolumeReclaimPolicy", policy}}}});
  }
  /// Of the volume as it was looked at, and of no other one of its name.
  Answer set_policy(const Object& volume, std::string policy) {
    return change(
        std::string(volume.name()),
        json::object{{"metadata", json::object{{"uid", volume.uid()}, {"resourceVersion", volume.resource_version()}}},
                     {"spec", json::object{{"persistentVolumeReclaimPolicy", policy}}}});
  }
  Answer wait_until_gone(const kube::Resource& kind, ObjectKey key) {
    const std::function<Look(const Object*)> gone = [](const Object* object) {
      return object ? Look{.seen = "it is still there"} : Look{.done = true};
    };
    const std::string what = std::string(kind.kind) + " " + key.text() + " to be gone";
    co_return co_await wait_for_object(cluster_, soon(), kind, key, what, gone, Blame::warnings);
  }

  /// From here on no other pod can begin to use the claim, which is deleted and held by the pod that reads from it.
  /// Both volumes stay whatever happens, and say whose they may become.
  Answer lock() {
    if (auto free = co_await check_users(" since a moment ago"); !free) co_return free;
    if (auto mine = still_mine(); !mine) co_return mine;
    const std::string owner = claim_key().text();
    if (auto noted = co_await note(copy_, json::object{{annotations::given_to, owner},
                                                       {annotations::move_record, model::write_record(record_)}});
        !noted)
      co_return noted;
    if (auto noted = co_await note(record_.source, json::object{{annotations::given_to, owner}}); !noted)
      co_return noted;
    for (const std::string& volume : {copy_, record_.source})
      if (auto set = co_await set_policy(volume, "Retain"); !set) co_return set;
    is_locked_ = true;
    auto removed = co_await cluster_.remove(kinds::claims, claim_key(), {.uid = record_.uid});
    if (!removed) co_return std::unexpected(std::move(removed.error()));
    auto held = co_await cluster_.find(kinds::claims, claim_key());
    if (!held) co_return std::unexpected(std::move(held.error()));
    if (!*held || (*held)->uid() != record_.uid)
      co_return kube::fail(Errc::closed, "the pod that reads " + words() + " has ended: run the same command again");
    co_return co_await check_users(" since a moment ago");
  }

  /// The claim made anew, as the owner of `volume`.
  Answer give(const MoveRecord& record, std::string volume, std::string node) {
    // Until the one before is gone, its name is taken.
    const std::function<Look(const Object*)> free = [&record](const Object* claim) {
      return claim && claim->uid() == record.uid ? Look{.seen = "pods still use it"} : Look{.done = true};
    };
    if (auto gone = co_await wait_for_object(cluster_, soon(), kinds::claims, claim_key(),
                                             "claim " + claim_key().text() + " to be free", free);
        !gone)
      co_return gone;
    auto made = co_await cluster_.api().create(kinds::claims, model::claim_of_volume(record.claim, node, volume));
    if (!made && !made.error().is_already_exists())
      co_return kube::fail(std::move(made.error()), "making claim " + claim_key().text() + " anew");
    auto claim = co_await existing(kinds::claims, claim_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    if (claim->annotation(annotations::takes_volume) != volume)
      co_return kube::fail(Errc::invalid_input, "there is a claim " + claim_key().text() +
                                                    " that somebody else has made meanwhile. Nothing has been deleted: "
                                                    "look what it has, and remove it where it has nothing; the data is "
                                                    "in PersistentVolume " +
                                                    volume + ", and the same command goes on with that");
    const std::function<Look(const Object*)> look = [](const Object* one) {
      return one && phase_of(*one) == "Bound" ? Look{.done = true} : Look{.seen = "it has no volume"};
    };
    if (auto bound =
            co_await wait_for_object(cluster_, soon(), kinds::claims, claim_key(),
                                     "claim " + claim_key().text() + " to have its volume", look, Blame::warnings);
        !bound)
      co_return bound;
    auto own = co_await check_given(std::move(volume));
    if (!own) co_return std::unexpected(std::move(own.error()));
    if (auto mine = still_mine(); !mine) co_return mine;
    co_return co_await set_policy(*own, record.policy);
  }

  /// The volume of the claim, which has the data of the one that was given to it: until that is sure nothing is
  /// deleted. An older liqod, or another provisioner, would have made the claim an empty one.
  asio::awaitable<Result<Object>> check_given(std::string volume) {
    using liqo::core::storage::recorded_backing;
    auto claim = co_await existing(kinds::claims, claim_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    auto own = co_await existing(kinds::volumes, {"", std::string(string_at(claim->spec(), {"volumeName"}))});
    if (!own) co_return std::unexpected(std::move(own.error()));
    auto given = co_await existing(kinds::volumes, {"", volume});
    if (!given) co_return std::unexpected(std::move(given.error()));
    const auto has = recorded_backing(*own), wanted = recorded_backing(*given);
    if (!has || !wanted || *has != *wanted || !liqo::core::storage::is_volume_of(*own, *claim))
      co_return kube::fail(Errc::invalid_input, "claim " + claim_key().text() + " has PersistentVolume " +
                                                    std::string(own->name()) + ", which is not the data of " + volume +
                                                    ": liqod may be older than this command. " +
                                                    "Nothing has been deleted; the data is in " + volume);
    co_return std::move(*own);
  }

  Answer remove_volume(std::string name) {
    auto removed = co_await cluster_.remove(kinds::volumes, {"", std::move(name)});
    if (!removed) co_return std::unexpected(std::move(removed.error()));
    co_return Result<void>();
  }

  /// The copy is as good as what it was made of.
  Answer finish(MoveRecord record, std::string copy) {
    if (auto mine = still_mine(); !mine) co_return mine;
    auto before = co_await cluster_.find(kinds::claims, claim_key());
    if (!before) co_return std::unexpected(std::move(before.error()));
    // While the claim is not gone, a pod that was late may have begun to write: then the copy is not the newest.
    if (*before && (*before)->uid() == record.uid) {
      if (auto free = co_await check_users(" since the copy was compared"); !free) {
        record.verified = false;
        if (auto noted = co_await note(copy, json::object{{annotations::move_record, model::write_record(record)}});
            !noted)
          co_return noted;
        co_return free;
      }
    }
    if (auto gone = co_await remove_carriers(); !gone) co_return gone;
    if (auto gone = co_await remove_copy_claim(false); !gone) co_return gone;
    if (auto given = co_await give(record, copy, record.node); !given) co_return given;
    auto source = co_await cluster_.find(kinds::volumes, {"", record.source});
    if (!source) co_return std::unexpected(std::move(source.error()));
    const auto kept = *source ? liqo::core::storage::recorded_backing(**source) : std::nullopt;
    if (auto mine = still_mine(); !mine) co_return mine;
    // Whoever has a namespace of this name later is to get nothing of it.
    if (*source && asked_.keep_source)
      if (auto noted = co_await note(record.source, json::object{{annotations::given_to, nullptr}}); !noted)
        co_return noted;
    if (*source && !asked_.keep_source) {
      if (auto set = co_await set_policy(**source, "Delete"); !set) co_return set;
      if (auto gone = co_await wait_until_gone(kinds::volumes, {"", record.source}); !gone) co_return gone;
    }
    // With it the record of this move goes.
    if (auto removed = co_await remove_volume(copy); !removed) co_return removed;
    cluster_.output().success(cluster_.scope(), words() + " is where node " + record.node + " is");
    if (asked_.keep_source && kept)
      say("what it was copied from stays: claim " + kept->key.text() + " in " + cluster_in_words(kept->cluster) +
          ", PersistentVolume " + record.source);
    co_return Result<void>();
  }

  /// Goes on with what was interrupted; whether nothing is left to do.
  asio::awaitable<Result<bool>> resume(MoveRecord record, std::string copy) {
    if (record.verified) {
      say("an earlier move to node " + record.node + " goes on: the copy was compared");
      if (auto done = co_await finish(record, copy); !done) co_return std::unexpected(std::move(done.error()));
      co_return record.node == asked_.node;
    }
    auto claim = co_await cluster_.find(kinds::claims, claim_key());
    if (!claim) co_return std::unexpected(std::move(claim.error()));
    if (!*claim || (*claim)->is_deleting() || (*claim)->uid() != record.uid) {
      say("an earlier move was interrupted before its copy was compared: the claim gets its volume back");
      if (auto gone = co_await remove_carriers(); !gone) co_return std::unexpected(std::move(gone.error()));
      if (auto given = co_await give(record, record.source, record.former_node); !given)
        co_return std::unexpected(std::move(given.error()));
      // First the record: what is left behind it is a volume that nobody has.
      if (auto forgotten = co_await forget(copy); !forgotten) co_return std::unexpected(std::move(forgotten.error()));
      if (auto removed = co_await remove_volume(record.source); !removed)
        co_return std::unexpected(std::move(removed.error()));
      co_return false;
    } else if (auto set = co_await set_policy(record.source, record.policy); !set) {
      co_return std::unexpected(std::move(set.error()));
    }
    if (auto forgotten = co_await forget(copy); !forgotten) co_return std::unexpected(std::move(forgotten.error()));
    co_return false;
  }

  /// The next move copies anew, and the copy goes with its claim.
  Answer forget(std::string copy) {
    const json::object nothing{{annotations::move_record, nullptr}, {annotations::given_to, nullptr}};
    co_return co_await change(std::move(copy),
                              json::object{{"metadata", json::object{{"annotations", nothing}}},
                                           {"spec", json::object{{"persistentVolumeReclaimPolicy", "Delete"}}}});
  }

  Session& session_;
  Cluster& cluster_;
  const MoveLock& lock_;
  const VolumeMove& asked_;
  std::string ns_;
  Object claim_;
  MoveRecord record_;
  std::string source_node_, target_, image_;
  std::string copy_;  ///< the volume that has the copy
  bool is_locked_ = false;
};

asio::awaitable<Result<void>> move_under(MoveLock& lock, Session& session, Cluster& cluster, const VolumeMove& asked) {
  if (auto locked = co_await lock.acquire(); !locked) co_return locked;
  Mover mover(session, cluster, lock, asked);
  co_return co_await mover.run();
}

}  // namespace

asio::awaitable<Result<void>> move_volume(Session& session, Cluster& cluster, VolumeMove asked) {
  MoveLock lock(cluster, co_await asio::this_coro::executor, {cluster.ns(), model::move_name(asked.claim)});
  co_return co_await kube::async::finally(move_under(lock, session, cluster, asked), lock.release());
}

}  // namespace liqoctl
