#include "sample_pod.hpp"

#include <string_view>

namespace bench {
namespace {

// `@N` stands for the number, `@V` for the version, `@H` for the host.
constexpr std::string_view form = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-@N","namespace":"bench",
"uid":"6f6b1c9e-8a70-4f0c-9a5e-@N","resourceVersion":"@V","generation":1,"creationTimestamp":"2026-11-21T10:00:00Z",
"labels":{"app":"web","pod-template-hash":"7c9d8f5b6d","offloading.example.org/origin":"rome"},
"annotations":{"bench.example.org/note":"a pod as an API server sends it"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7c9d8f5b6d",
"uid":"0b1d6d0e-54d5-4a7c-8f2e-3a1f6f1e9d11","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",
"time":"2026-11-21T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},
"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"0b1d6d0e\"}":{}}},"f:spec":{
"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:command":{},"f:env":{".":{},"k:{\"name\":\"MODE\"}":{".":{},
"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:limits":{".":{},
"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},
"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},
"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}},{"manager":"kubelet",
"operation":"Update","apiVersion":"v1","time":"2026-11-21T10:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{
"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},
"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},
"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},
"f:startTime":{}}},"subresource":"status"}]},"spec":{"volumes":[{"name":"kube-api-access-x7k2p","projected":{
"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{
"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace",
"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],"containers":[{
"name":"main","image":"registry.example.org/web:1.4.2","command":["/bin/sh","-c","exec web --port 8080"],
"env":[{"name":"MODE","value":"production"}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},
"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"kube-api-access-x7k2p","readOnly":true,
"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":"/dev/termination-log",
"terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",
"terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default",
"serviceAccount":"default","nodeName":"@H","securityContext":{},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
"tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
"tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},
"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-11-21T10:00:00Z"},{"type":"Initialized","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-11-21T10:00:00Z"},{"type":"ContainersReady","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-11-21T10:00:02Z"},{"type":"Ready","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-11-21T10:00:02Z"}],"hostIP":"192.168.1.7","podIP":"10.1.4.23",
"podIPs":[{"ip":"10.1.4.23"}],"startTime":"2026-11-21T10:00:00Z","containerStatuses":[{"name":"main","state":{
"running":{"startedAt":"2026-11-21T10:00:02Z"}},"lastState":{},"ready":true,"restartCount":0,
"image":"registry.example.org/web:1.4.2","imageID":"registry.example.org/web@sha256:2f1d","started":true}],
"qosClass":"Burstable"}})";

}  // namespace

std::string sample_pod(int number, int version) {
  std::string text;
  text.reserve(form.size());
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (form[at] == '\n') continue;  // an API server sends one line
    if (form[at] != '@' || at + 1 == form.size() ||
        std::string_view("NVH").find(form[at + 1]) == std::string_view::npos) {
      text += form[at];
      continue;
    }
    switch (form[++at]) {
      case 'N':
        text += std::to_string(number);
        break;
      case 'V':
        text += std::to_string(version);
        break;
      default:
        text += "milan-" + std::to_string(number % 10);
    }
  }
  return text;
}

}  // namespace bench
