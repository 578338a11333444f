// The usage of a virtual node, computed from that of its pods. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/usage/pod_usage.hpp"

namespace liqo::core {

/// Follows a count that grows, and falls only if it starts again.
class Meter {
 public:
  /// Takes a reading and returns by how much the count has grown since the one before; nothing for the first one. A
  /// reading within a second of the one before does not count: the result is 0.
  std::optional<std::uint64_t> take(const Reading& reading);
  /// The time between the last two readings, in milliseconds; 0 = there are no two.
  std::int64_t span() const { return span_; }
  /// How much the count grew in a second between the last two readings; nothing before there are two.
  std::optional<std::uint64_t> rate() const { return rate_; }

 private:
  std::optional<Reading> last_;
  std::optional<std::uint64_t> rate_;
  std::int64_t span_ = 0;
};

/// The usage of a node, of which there is always something to report.
struct NodeReading {
  std::uint64_t cpu = 0;              ///< nanoseconds of CPU time of all its pods, those that have ended included
  std::optional<std::uint64_t> rate;  ///< nanoseconds of CPU time in a second, of the pods that run
  std::uint64_t memory = 0;           ///< bytes
  std::int64_t at = 0;                ///< milliseconds since 1970: of the newest reading; never goes back
};

/// What is remembered of one virtual node between two looks. Its CPU time is what its pods had used at the first look
/// and have used since; it never falls. What is remembered of a pod goes with the pod. A new process starts from
/// nothing, which readers take for a restart of the node: two looks later they have metrics again.
class NodeUsage {
 public:
  /// `uid_of` finds the pods that are there now.
  void take(const UsageByPod& by_pod, const UidOf& uid_of, kube::WallTime now);
  /// The usage of the node as of the last look.
  const NodeReading& node() const { return node_; }
  /// How much CPU time a pod, or a container of it, uses in a second, in nanoseconds. Nothing before two looks.
  std::optional<std::uint64_t> rate(const kube::ObjectKey& pod) const;
  std::optional<std::uint64_t> rate(const kube::ObjectKey& pod, const std::string& container) const;
  /// Of how many pods something is remembered.
  std::size_t pods() const { return pods_.size(); }

 private:
  struct PodMeters {
    std::string uid;
    std::uint64_t look = 0;  ///< the number of the look that it was seen in last
    bool has_own = false;    ///< the provider reports its CPU time as a whole
    Meter own;
    std::map<std::string, Meter, std::less<>> containers;
    std::optional<std::uint64_t> rate() const;
  };
  /// A pod in the look that is being taken.
  struct Sight {
    std::optional<std::int64_t> started;  ///< as PodUsage has it
    bool was_seen;                        ///< in the look before, too
    std::int64_t since_look;              ///< milliseconds since that
  };
  /// What a count of the pod has added to that of the node since the look before.
  std::uint64_t grown(Meter& meter, const Reading& reading, const Sight& pod) const;

  std::map<kube::ObjectKey, PodMeters> pods_;
  std::uint64_t looks_ = 0;
  std::uint64_t used_ = 0;  ///< nanoseconds
  kube::WallTime looked_{};
  NodeReading node_;
};

}  // namespace liqo::core
