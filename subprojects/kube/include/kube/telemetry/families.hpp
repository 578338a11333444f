// The metrics of this library. Those of controller-runtime and client-go have their names and labels, all others the
// prefix kube_.
#pragma once

#include "kube/telemetry/metrics.hpp"

namespace kube::families {

using enum MetricType;
using enum SeriesLife;

inline constexpr MetricFamily requests{counter,
                                       "rest_client_requests_total",
                                       "Requests to API servers, by answer; \"<error>\" where none came.",
                                       {"host", "method", "code"},
                                       handles};
inline constexpr MetricFamily clock_ahead{
    gauge,
    "kube_server_clock_ahead_seconds",
    "Seconds by which a server's clock is ahead of this process's, negative if it is behind.",
    {"host"},
    handles};

inline constexpr MetricFamily connections{gauge,
                                          "kube_connections",
                                          "Open connections to API servers, by what they are for: requests or watches.",
                                          {"host", "use"},
                                          handles};
inline constexpr MetricFamily streams{
    gauge, "kube_streams", "Requests and watches that are under way.", {"host", "use"}, handles};

inline constexpr MetricFamily reconciles{
    counter, "controller_runtime_reconcile_total", "Reconciles, by result.", {"controller", "result"}};
inline constexpr MetricFamily reconcile_errors{
    counter, "controller_runtime_reconcile_errors_total", "Reconciles that failed.", {"controller"}};
inline constexpr MetricFamily terminal_errors{counter,
                                              "controller_runtime_terminal_reconcile_errors_total",
                                              "Reconciles that failed and are not tried again until something changes.",
                                              {"controller"}};
inline constexpr MetricFamily reconcile_panics{
    counter, "controller_runtime_reconcile_panics_total", "Reconciles that threw.", {"controller"}};
inline constexpr MetricFamily reconcile_timeouts{counter,
                                                 "controller_runtime_reconcile_timeouts_total",
                                                 "Reconciles that took too long and were cancelled.",
                                                 {"controller"}};
inline constexpr MetricFamily reconcile_time{
    histogram, "controller_runtime_reconcile_time_seconds", "Time of one reconcile.", {"controller"}};
inline constexpr MetricFamily active_workers{
    gauge, "controller_runtime_active_workers", "Reconciles under way.", {"controller"}};
inline constexpr MetricFamily max_workers{gauge,
                                          "controller_runtime_max_concurrent_reconciles",
                                          "How many reconciles may be under way at once.",
                                          {"controller"}};
inline constexpr MetricFamily queue_adds{counter, "workqueue_adds_total", "Keys added.", {"name", "controller"}};
inline constexpr MetricFamily queue_retries{
    counter, "workqueue_retries_total", "Keys added again after a failure.", {"name", "controller"}};
inline constexpr MetricFamily queue_depth{gauge, "workqueue_depth", "Keys that are due.", {"name", "controller"}};
inline constexpr MetricFamily queue_time{
    histogram, "workqueue_queue_duration_seconds", "Time from due to started.", {"name", "controller"}};
inline constexpr MetricFamily work_time{
    histogram, "workqueue_work_duration_seconds", "Time of the work on one key.", {"name", "controller"}};
inline constexpr MetricFamily longest_work{gauge,
                                           "workqueue_longest_running_processor_seconds",
                                           "How long the longest reconcile under way has been running.",
                                           {"name", "controller"},
                                           handles};
inline constexpr MetricFamily is_leader{
    gauge, "leader_election_master_status", "1 where this process leads, 0 where it follows.", {"name"}};

inline constexpr MetricFamily lists{
    counter, "kube_informer_lists_total", "Complete lists taken.", {"cluster", "resource"}, handles};
inline constexpr MetricFamily watches{
    counter, "kube_informer_watches_total", "Watches opened.", {"cluster", "resource"}, handles};
inline constexpr MetricFamily watch_events{
    counter, "kube_informer_events_total", "Watch events taken.", {"cluster", "resource"}, handles};
inline constexpr MetricFamily skipped_objects{counter,
                                              "kube_informer_skipped_total",
                                              "Objects that could not be taken, or that were not asked for.",
                                              {"cluster", "resource"},
                                              handles};
inline constexpr MetricFamily rewinds{counter,
                                      "kube_informer_rewinds_total",
                                      "Times that the server was found to have gone back to an earlier state.",
                                      {"cluster", "resource"},
                                      handles};
inline constexpr MetricFamily held_objects{
    gauge, "kube_informer_objects", "Objects held in stores.", {"cluster", "resource"}, handles};
inline constexpr MetricFamily held_bytes{
    gauge, "kube_informer_bytes", "Bytes of JSON held in stores.", {"cluster", "resource"}, handles};
inline constexpr MetricFamily watch_age{gauge,
                                        "kube_informer_watch_age_seconds",
                                        "Seconds since the watch that has been silent for longest last sent anything.",
                                        {"cluster", "resource"},
                                        handles};
inline constexpr MetricFamily history_checks{
    counter,
    "kube_history_checks_total",
    "Questions to a server after an interruption whether it still has the history that its watches sent, by verdict.",
    {"cluster", "verdict"},
    handles};
inline constexpr MetricFamily budget_bytes{
    gauge, "kube_store_budget_bytes", "Bytes of JSON held of a peer with a budget.", {"cluster"}, handles};
inline constexpr MetricFamily budget_objects{
    gauge, "kube_store_budget_objects", "Objects held of a peer with a budget.", {"cluster"}, handles};
inline constexpr MetricFamily budget_max_bytes{gauge,
                                               "kube_store_budget_max_bytes",
                                               "The most bytes of JSON that may be held of a peer with a budget.",
                                               {"cluster"},
                                               handles};
inline constexpr MetricFamily budget_max_objects{gauge,
                                                 "kube_store_budget_max_objects",
                                                 "The most objects that may be held of a peer with a budget.",
                                                 {"cluster"},
                                                 handles};
inline constexpr MetricFamily answer_bytes{
    gauge,
    "kube_answer_bytes",
    "Memory in use for answers of an API server that has an account, and of all (\"<all>\").",
    {"cluster"},
    handles};
inline constexpr MetricFamily answer_max_bytes{
    gauge, "kube_answer_max_bytes", "The most memory that those answers may take.", {"cluster"}, handles};
inline constexpr MetricFamily kube_events{
    counter, "kube_events_total", "Events noted, by what became of them.", {"outcome"}};

/// Every family above.
inline constexpr const MetricFamily* all[] = {
    &requests,
    &clock_ahead,
    &connections,
    &streams,
    &reconciles,
    &reconcile_errors,
    &terminal_errors,
    &reconcile_panics,
    &reconcile_timeouts,
    &reconcile_time,
    &active_workers,
    &max_workers,
    &queue_adds,
    &queue_retries,
    &queue_depth,
    &queue_time,
    &work_time,
    &longest_work,
    &is_leader,
    &lists,
    &watches,
    &watch_events,
    &skipped_objects,
    &rewinds,
    &held_objects,
    &held_bytes,
    &watch_age,
    &history_checks,
    &budget_bytes,
    &budget_objects,
    &budget_max_bytes,
    &budget_max_objects,
    &answer_bytes,
    &answer_max_bytes,
    &kube_events,
};

}  // namespace kube::families
