// The metrics of Liqo. Those that also exist in the Go version have its names and labels.
#pragma once

#include "kube/telemetry/metrics.hpp"

namespace liqo::families {

using enum kube::MetricType;
using enum kube::SeriesLife;
using kube::MetricFamily;

// What happens to pods, at home.
inline constexpr MetricFamily reflected{counter,
                                        "liqo_virtual_kubelet_reflection_item_counter",
                                        "Objects brought to a provider, by kind; one that changes counts again.",
                                        {"namespace", "reflector_resource", "cluster_id", "node_name"},
                                        handles};
inline constexpr MetricFamily reflection_errors{counter,
                                                "liqo_virtual_kubelet_reflection_error_counter",
                                                "Reflections that failed, and are tried again.",
                                                {"namespace", "reflector_resource", "cluster_id", "node_name"},
                                                handles};
inline constexpr MetricFamily copies_given_up{
    counter,
    "liqo_copies_given_up_total",
    "Copies left as somebody at the provider has overwritten them, by kind; for another hour each time.",
    {"reflector_resource", "cluster_id"},
    handles};
inline constexpr MetricFamily pod_start{histogram,
                                        "liqo_pod_start_seconds",
                                        "Time from when a pod is bound to a virtual node until it is shown as running.",
                                        {"cluster_id", "node_name"},
                                        handles};
inline constexpr MetricFamily offloaded_pods{gauge,
                                             "liqo_virtual_node_pods",
                                             "Pods of a virtual node, including those that have ended.",
                                             {"cluster_id", "node_name"},
                                             handles};
inline constexpr MetricFamily pods_without_room{
    gauge,
    "liqo_virtual_node_pods_without_room",
    "Pods that wait because the provider has refused them for lack of room.",
    {"cluster_id", "node_name"},
    handles};
inline constexpr MetricFamily virtual_node_ready{gauge,
                                                 "liqo_virtual_node_ready",
                                                 "1 if the Node of a VirtualNode is Ready, else 0.",
                                                 {"cluster_id", "node_name"},
                                                 handles};

// Peers.
inline constexpr MetricFamily peer_reachable{gauge,
                                             "liqo_peer_reachable",
                                             "1 if the API server of a peer that this cluster uses answers, else 0.",
                                             {"cluster_id"},
                                             handles};
inline constexpr MetricFamily home_names{gauge, "liqo_home_names_resolve",
                                         "1 if pods of consumers look up the names of their home here, else 0."};
inline constexpr MetricFamily identity_expiry{gauge,
                                              "liqo_identity_certificate_expiry_timestamp_seconds",
                                              "When the certificate ends by which a provider knows this cluster.",
                                              {"cluster_id", "identity"},
                                              handles};
inline constexpr MetricFamily identity_start{gauge,
                                             "liqo_identity_certificate_start_timestamp_seconds",
                                             "When the certificate begins by which a provider knows this cluster.",
                                             {"cluster_id", "identity"},
                                             handles};
inline constexpr MetricFamily serving_expiry{gauge,
                                             "liqo_serving_certificate_expiry_timestamp_seconds",
                                             "When the certificate ends that a port shows.",
                                             {"server"}};
inline constexpr MetricFamily serving_start{gauge,
                                            "liqo_serving_certificate_start_timestamp_seconds",
                                            "When the certificate begins that a port shows.",
                                            {"server"}};
inline constexpr MetricFamily slice_requested{gauge,
                                              "liqo_slice_requested",
                                              "What this cluster asks of a provider (cores, bytes, pieces).",
                                              {"cluster_id", "slice", "resource"},
                                              handles};
inline constexpr MetricFamily slice_granted{gauge,
                                            "liqo_slice_granted",
                                            "What the provider has granted of what this cluster asks for.",
                                            {"cluster_id", "slice", "resource"},
                                            handles};
inline constexpr MetricFamily slice_accepted{
    gauge, "liqo_slice_accepted", "1 if the provider has accepted a slice, else 0.", {"cluster_id", "slice"}, handles};
inline constexpr MetricFamily sessions_lost{
    counter,
    "liqo_sessions_lost_total",
    "Sessions with a provider that lost a worker by an exception and were started anew.",
    {"cluster_id", "session"},
    handles};
inline constexpr MetricFamily writes_delayed{counter,
                                             "liqo_provider_writes_delayed_total",
                                             "Writes at home that had to wait because a provider causes too many.",
                                             {"cluster_id"},
                                             handles};
inline constexpr MetricFamily bytes_delayed{
    counter,
    "liqo_provider_bytes_delayed_total",
    "Bytes beyond 8 KiB of objects whose writes at home had to wait because a provider causes too large ones.",
    {"cluster_id"},
    handles};

// Quotas, at the provider.
inline constexpr MetricFamily quota_granted{gauge,
                                            "liqo_quota_granted",
                                            "What a consumer may have here (cores, bytes, pieces).",
                                            {"cluster_id", "slice", "resource"},
                                            handles};
inline constexpr MetricFamily quota_used{
    gauge,
    "liqo_quota_used",
    "What the pods of a consumer hold here: those that are stored, and those that were admitted.",
    {"cluster_id", "slice", "resource"},
    handles};
inline constexpr MetricFamily quota_free{gauge,
                                         "liqo_quota_free",
                                         "What is granted and not used; never negative.",
                                         {"cluster_id", "slice", "resource"},
                                         handles};
inline constexpr MetricFamily quota_pods{
    gauge, "liqo_quota_pods", "Pods that are stored and hold something of a quota.", {"cluster_id", "slice"}, handles};
inline constexpr MetricFamily quota_left_out{
    gauge,
    "liqo_quota_series_left_out",
    "Amounts that are not shown, because a consumer has more slices or resources than are shown.",
    {"cluster_id"},
    handles};
inline constexpr MetricFamily quota_admissions{
    counter, "liqo_quota_admissions_total", "Answers of quotas to new and resized ShadowPods.", {"outcome"}};
inline constexpr MetricFamily quota_refusals{counter,
                                             "liqo_quota_refusals_total",
                                             "ShadowPods refused by a quota, by reason.",
                                             {"cluster_id", "reason"},
                                             handles};
inline constexpr MetricFamily quota_unproven{gauge, "liqo_quota_unproven_reservations",
                                             "Reservations of callers that are not proven to be API servers."};
inline constexpr MetricFamily quota_commits{counter, "liqo_quota_commits_total",
                                            "Writes of the record of reservations."};
inline constexpr MetricFamily quota_conflicts{
    counter, "liqo_quota_conflicts_total", "Writes that another replica was faster with, and that were decided anew."};
inline constexpr MetricFamily unrecorded_pods{
    gauge, "liqo_shadowpods_unrecorded",
    "ShadowPods whose pod restarts always and runs, which is recorded within a minute."};

// Admission.
inline constexpr MetricFamily admissions{counter, "liqod_admissions_total", "Reviews answered.", {"path", "answer"}};
inline constexpr MetricFamily admission_time{
    histogram, "liqod_admission_seconds", "Time until a review is answered.", {"path"}};
inline constexpr MetricFamily admission_unreadable{counter, "liqod_admission_unreadable_total",
                                                   "Requests that were no AdmissionReview."};
inline constexpr MetricFamily admission_unknown{
    counter, "liqod_admission_unknown_callers_total",
    "Requests whose sender showed no certificate that may ask for reviews."};
inline constexpr MetricFamily admission_shadow_pods{
    counter,
    "liqod_admission_shadowpods_total",
    "Reviews of new and resized ShadowPods, by whether the caller is proven to be an API server.",
    {"caller"}};
inline constexpr MetricFamily admission_not_awaited{
    counter, "liqod_admission_not_awaited_total",
    "Answers that were given before it was known who asks, because too many others waited for that."};
inline constexpr MetricFamily admission_probes{counter,
                                               "liqod_admission_probes_total",
                                               "Dry runs by which liqod finds the addresses of API servers.",
                                               {"outcome"}};
inline constexpr MetricFamily admission_proven{gauge, "liqod_admission_proven_callers",
                                               "Addresses from which API servers are known to ask."};

// The kubelet API.
inline constexpr MetricFamily kubelet_tokens_refused{
    counter, "liqod_kubelet_tokens_refused_total",
    "Unknown tokens that the API server was not asked about, because too many came."};
inline constexpr MetricFamily kubelet_ports_missing{gauge, "liqod_kubelet_ports_missing",
                                                    "Ports of virtual nodes that this process cannot open."};
inline constexpr MetricFamily streams{
    gauge, "liqod_kubelet_streams", "Logs, commands and port-forwards under way.", {"kind"}};
inline constexpr MetricFamily streams_opened{
    counter, "liqod_kubelet_streams_total", "Logs, commands and port-forwards that were begun.", {"kind"}};
inline constexpr MetricFamily usage_asked{counter,
                                          "liqod_kubelet_figures_total",
                                          "Requests for what virtual nodes and their pods use: served, refused, or "
                                          "cut short behind the head of the answer.",
                                          {"outcome"}};
inline constexpr MetricFamily usage_remembered{gauge, "liqod_kubelet_figures_pods",
                                               "Pods whose use is remembered from one look to the next."};

// The port of the metrics.
inline constexpr MetricFamily metrics_tokens_refused{
    counter, "liqod_metrics_tokens_refused_total",
    "Unknown tokens of scrapers that the API server was not asked about, because too many came."};

// Usage of consumers' pods, at the provider.
inline constexpr MetricFamily usage_scrapes{
    counter,
    "liqo_metric_agent_scrapes_total",
    "Usage that consumers asked for and that was gathered for them, by outcome: told, or failed.",
    {"outcome"}};
inline constexpr MetricFamily usage_refused{counter, "liqo_metric_agent_refused_total",
                                            "Requests for usage of another cluster, which were answered 403."};
inline constexpr MetricFamily usage_unknown_callers{
    counter, "liqo_metric_agent_strangers_total",
    "Requests for usage without the certificate of the front proxy, which were answered 401."};
inline constexpr MetricFamily usage_kubelets{
    counter,
    "liqo_metric_agent_kubelets_asked_total",
    "Kubelets that were asked, by outcome: answered, silent (no answer in time), failed, or too_large.",
    {"outcome"}};
inline constexpr MetricFamily usage_held{gauge, "liqo_metric_agent_held_bytes",
                                         "Bytes of usage that is being gathered or sent."};
inline constexpr MetricFamily usage_lines_dropped{counter, "liqo_metric_agent_lines_dropped_total",
                                                  "Lines of kubelets that were too long to be read."};

// The process.
inline constexpr MetricFamily build{gauge, "liqo_build_info", "1, with the version of liqod.", {"version"}};
inline constexpr MetricFamily resident{gauge, "process_resident_memory_bytes", "Resident memory."};
inline constexpr MetricFamily cpu{counter, "process_cpu_seconds_total", "User and system CPU time."};
inline constexpr MetricFamily loop_turn{histogram, "liqod_loop_turn_seconds",
                                        "CPU time of one turn of the loop: while it lasts, nothing else happens."};
inline constexpr MetricFamily connections{gauge, "liqod_server_connections", "Connections that are open.", {"server"}};
inline constexpr MetricFamily connections_accepted{
    counter, "liqod_server_connections_total", "Connections that were accepted or refused.", {"server"}};
inline constexpr MetricFamily connections_refused{counter,
                                                  "liqod_server_connections_refused_total",
                                                  "Connections that were closed at once because all others were busy.",
                                                  {"server"}};
inline constexpr MetricFamily connections_evicted{counter,
                                                  "liqod_server_connections_evicted_total",
                                                  "Idle and unfinished connections that were closed to make room.",
                                                  {"server"}};
inline constexpr MetricFamily server_held{
    gauge, "liqod_server_held_bytes", "Bytes of requests that are being read or handled.", {"server"}};
inline constexpr MetricFamily requests_without_room{counter,
                                                    "liqod_server_requests_without_room_total",
                                                    "Requests that were answered 503 because the server held too much.",
                                                    {"server"}};
inline constexpr MetricFamily handshake_failures{
    counter, "liqod_server_tls_handshake_failures_total", "TLS handshakes that failed or took too long.", {"server"}};
inline constexpr MetricFamily server_requests{
    counter, "liqod_server_requests_total", "Requests that were read.", {"server"}};

/// Every family above.
inline constexpr const MetricFamily* all[] = {
    &reflected,
    &reflection_errors,
    &copies_given_up,
    &pod_start,
    &offloaded_pods,
    &pods_without_room,
    &virtual_node_ready,
    &peer_reachable,
    &home_names,
    &identity_expiry,
    &identity_start,
    &serving_expiry,
    &serving_start,
    &slice_requested,
    &slice_granted,
    &slice_accepted,
    &sessions_lost,
    &writes_delayed,
    &bytes_delayed,
    &quota_granted,
    &quota_used,
    &quota_free,
    &quota_pods,
    &quota_left_out,
    &quota_admissions,
    &quota_refusals,
    &quota_unproven,
    &quota_commits,
    &quota_conflicts,
    &unrecorded_pods,
    &admissions,
    &admission_time,
    &admission_unreadable,
    &admission_unknown,
    &admission_shadow_pods,
    &admission_not_awaited,
    &admission_probes,
    &admission_proven,
    &kubelet_tokens_refused,
    &kubelet_ports_missing,
    &streams,
    &streams_opened,
    &usage_asked,
    &usage_remembered,
    &metrics_tokens_refused,
    &usage_scrapes,
    &usage_refused,
    &usage_unknown_callers,
    &usage_kubelets,
    &usage_held,
    &usage_lines_dropped,
    &build,
    &resident,
    &cpu,
    &loop_turn,
    &connections,
    &connections_accepted,
    &connections_refused,
    &connections_evicted,
    &server_held,
    &requests_without_room,
    &handshake_failures,
    &server_requests,
};

}  // namespace liqo::families
