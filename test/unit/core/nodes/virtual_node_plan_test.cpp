// The next steps for one VirtualNode, and its conditions.
#include "core/nodes/virtual_node_plan.hpp"

#include "../objects.hpp"
#include "core/nodes/namesakes.hpp"

namespace liqo::core {
namespace {

using namespace testing;
namespace action = virtual_node_action;

kube::Object virtual_node(bool is_wanted, std::string_view node_condition = "") {
  kube::Object made = parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan"}, "spec": {}})");
  made.mutable_spec()["createNode"] = is_wanted;
  if (!node_condition.empty())
    made.mutable_status()["conditions"] = json::array{
        json::object{{"type", "Node"}, {"status", node_condition}, {"lastTransitionTime", "2026-11-21T10:00:00Z"}}};
  return made;
}

kube::Object own_node(bool is_cordoned = false) {
  kube::Object made = parse(R"({"metadata": {"name": "milan", "labels": {"liqo.io/type": "virtual-node"}}})");
  if (is_cordoned) made.mutable_spec()["unschedulable"] = true;
  return made;
}

const action::Report running{.type = "VirtualKubelet", .status = "Running"}, none{.type = "Node", .status = "None"};

action::Report unusable(std::string why) {
  return {.type = "VirtualKubelet", .status = "Creating", .reason = "ProviderUnusable", .message = std::move(why)};
}

}  // namespace

TEST_CASE("a Node is written, opened again, withdrawn or left alone, and then the session is told of") {
  const kube::Object wanted = virtual_node(true, "Running"), unwanted = virtual_node(false, "Running"),
                     was_withdrawn = virtual_node(true, "Draining"), withdrawn = virtual_node(false, "Draining");
  const kube::Object open = own_node(), cordoned = own_node(true),
                     machine = parse(R"({"metadata": {"name": "milan"}})");
  const std::string why = "the Secret is missing";
  struct Case {
    const char* title;
    const kube::Object& virtual_node;
    const kube::Object* node;
    bool has_session;
    bool is_foreign;
    VirtualNodePlan plan;
  };
  using Keep = action::Keep;
  using action::FreePort, action::Uncordon, action::WriteNode;
  const Case cases[] = {
      {"its first session", wanted, nullptr, true, false, Keep{{WriteNode{}, running}}},
      {"as it was", wanted, &open, true, false, Keep{{WriteNode{}, running}}},
      {"cordoned by somebody else", wanted, &cordoned, true, false, Keep{{WriteNode{}, running}}},
      {"wanted again", was_withdrawn, &cordoned, true, false, Keep{{Uncordon{}, WriteNode{}, running}}},
      {"wanted again before it was cordoned", was_withdrawn, &open, true, false, Keep{{WriteNode{}, running}}},
      {"wanted again after it had gone", was_withdrawn, nullptr, true, false, Keep{{WriteNode{}, running}}},
      {"no session yet", wanted, nullptr, false, false, Keep{{unusable(why)}}},
      {"the session is lost", wanted, &open, false, false, Keep{{WriteNode{}, unusable(why)}}},
      {"the name is taken", wanted, &machine, false, true, Keep{{WriteNode{}, unusable(why)}}},
      {"the name was taken", wanted, nullptr, false, true, Keep{{WriteNode{}, unusable(why)}}},
      {"not wanted any more", unwanted, &open, true, false, action::Withdraw{}},
      {"being withdrawn without a session", withdrawn, &cordoned, false, false, action::Withdraw{}},
      {"withdrawn", withdrawn, nullptr, true, false, Keep{{FreePort{}, none, running}}},
      {"never wanted, and the name is taken", unwanted, &machine, false, true, Keep{{none, unusable(why)}}},
  };
  const ProviderHealth health{.probed = true};
  for (const Case& c : cases) {
    CAPTURE(c.title);
    CHECK(plan_virtual_node({.virtual_node = c.virtual_node,
                             .node = c.node,
                             .health = health,
                             .has_session = c.has_session,
                             .is_foreign = c.is_foreign,
                             .trouble = c.has_session ? "" : why}) == c.plan);
  }
}

TEST_CASE("the pods of a closed node learn whether the provider says so, and a full provider is looked at soon") {
  struct Case {
    Closed closed;
    action::WriteNode write;
    bool looks_soon;
  };
  const Case cases[] = {
      {Closed::no, {.is_closed = false, .is_reported = false}, false},
      {Closed::denied, {.is_closed = true, .is_reported = true}, false},
      {Closed::cordoned, {.is_closed = true, .is_reported = true}, false},
      {Closed::nothing_granted, {.is_closed = true, .is_reported = true}, false},
      {Closed::silent, {.is_closed = false, .is_reported = false}, false},
      {Closed::full, {.is_closed = true, .is_reported = false}, true},
  };
  const kube::Object wanted = virtual_node(true), unwanted = virtual_node(false), node = own_node();
  for (const Case& c : cases) {
    CAPTURE(closed_word(c.closed));
    const ProviderHealth health{.probed = true, .closed = c.closed};
    CHECK(plan_virtual_node({.virtual_node = wanted, .node = &node, .health = health, .has_session = true}) ==
          VirtualNodePlan(action::Keep{.steps = {c.write, running}, .look_soon = c.looks_soon}));
    CHECK(plan_virtual_node({.virtual_node = unwanted, .health = health, .has_session = true}) ==
          VirtualNodePlan(action::Keep{.steps = {action::FreePort{}, none, running}, .look_soon = c.looks_soon}));
  }
}

TEST_CASE("a provider that does not answer is told of with its last error") {
  const kube::Object wanted = virtual_node(true), node = own_node();
  ProviderHealth health{.failed_probes = 2, .failure_threshold = 3, .probed = true, .last_error = "timeout"};
  std::string trouble;
  const auto told = [&] {
    const auto plan = plan_virtual_node(
        {.virtual_node = wanted, .node = &node, .health = health, .has_session = true, .trouble = trouble});
    return std::get<action::Report>(std::get<action::Keep>(plan).steps.back());
  };
  CHECK(told() == running);
  health.silence = "nobody leads there";
  CHECK(told() == action::Report{.type = "VirtualKubelet",
                                 .status = "Running",
                                 .reason = "ProviderSilent",
                                 .message = "nobody leads there"});
  trouble = "it shows too much";
  CHECK(told() == unusable("it shows too much"));
  health.failed_probes = 3;
  CHECK(told() == unusable("the provider does not answer: timeout"));
}

TEST_CASE("the condition of a Node says why it could not be written") {
  CHECK(report_written({}) == action::Report{.type = "Node", .status = "Running"});
  const kube::Result<void> failed = kube::fail(kube::Errc::invalid_input, "the name is taken");
  const action::Report told = report_written(failed);
  CHECK(told ==
        action::Report{
            .type = "Node", .status = "Creating", .reason = "NodeNotWritten", .message = failed.error().text()});
  CHECK(told.condition().message == failed.error().text());
}

TEST_CASE("of VirtualNodes of one name the oldest comes first, and of those of one second the first UID") {
  const auto made = [](std::string_view uid, std::string_view created) {
    kube::Object node = virtual_node(true);
    node.mutable_metadata()["uid"] = uid;
    node.mutable_metadata()["creationTimestamp"] = created;
    return node;
  };
  const kube::Object old = made("z", "2026-11-21T10:00:00Z"), young = made("a", "2026-11-21T10:00:01Z"),
                     same = made("b", "2026-11-21T10:00:01Z");
  CHECK(comes_first(old, young));
  CHECK_FALSE(comes_first(young, old));
  CHECK(comes_first(young, same));
  CHECK_FALSE(comes_first(same, young));
  CHECK_FALSE(comes_first(old, old));
}

TEST_CASE("a VirtualNode that stands aside says for which one, and what becomes of its pods") {
  const kube::Object older = virtual_node(true);
  const auto told = [&](const kube::Result<std::size_t>& left) {
    std::string words;
    for (const action::Report& tell : report_standing_aside(older, left))
      words += std::string(tell.type) + " " + std::string(tell.status) + " " + std::string(tell.reason) + ". ";
    return words;
  };
  CHECK(told(0) == "Node None NodeNameTaken. VirtualKubelet None NodeNameTaken. ");
  CHECK(told(2) == "Node None NodeNameTaken. VirtualKubelet Draining NodeNameTaken. ");
  const kube::Result<std::size_t> failed = kube::fail(kube::Errc::connect, "no route");
  CHECK(told(failed) == "Node None NodeNameTaken. VirtualKubelet Draining PodsNotEnded. ");
  CHECK(report_standing_aside(older, failed).back().message.ends_with("no route"));
}

}  // namespace liqo::core
