// Prints the stages that fake nodes and their pods go through, of kwok's own fast ones: kwok is started with them.
package main

import (
	"fmt"

	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

func main() {
	for _, stage := range []string{
		node.DefaultNodeInit,
		heartbeat.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady,
		pod.DefaultPodComplete,
		pod.DefaultPodDelete,
	} {
		fmt.Printf("---\n%s\n", stage)
	}
}
