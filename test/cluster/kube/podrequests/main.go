// Says what Kubernetes itself would reserve for pods: one JSON document a line in, one line out, with the amounts in
// two orders. The pod goes the way that a created pod goes in the API server: defaults, LimitRanges, the overhead of its
// RuntimeClass, defaults again when it is read back; then the scheduler's own sum. Until 1.36 the amounts of a pod as a
// whole are filled in before the LimitRanges, since 1.37 after them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
)

type question struct {
	Spec        corev1.PodSpec          `json:"spec"`
	LimitRanges []corev1.LimitRangeSpec `json:"limitRanges"`
	Overhead    corev1.ResourceList     `json:"overhead"`
}

func answer(line []byte) (corev1.ResourceList, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	pod := corev1.Pod{Spec: asked.Spec}
	v1.SetObjectDefaults_Pod(&pod)
	var internal core.Pod
	if err := v1.Convert_v1_Pod_To_core_Pod(&pod, &internal, nil); err != nil {
		return nil, err
	}
	for _, spec := range asked.LimitRanges {
		limitRange := corev1.LimitRange{Spec: spec}
		v1.SetObjectDefaults_LimitRange(&limitRange)
		// Limits that the pod breaks are no matter here: only what is filled in counts.
		_ = limitranger.PodMutateLimitFunc(&limitRange, &internal)
	}
	podutil.DefaultPodLevelResources(&internal)
	var stored corev1.Pod
	if err := v1.Convert_core_Pod_To_v1_Pod(&internal, &stored, nil); err != nil {
		return nil, err
	}
	if asked.Overhead != nil {
		stored.Spec.Overhead = asked.Overhead
	}
	v1.SetObjectDefaults_Pod(&stored)
	return resource.PodRequests(&stored, resource.PodResourcesOptions{}), nil
}

// Both answers of one line.
type answers struct {
	Until36 corev1.ResourceList `json:"until36"`
	Since37 corev1.ResourceList `json:"since37"`
}

func both(line []byte) (answers, error) {
	var found answers
	for _, order := range []struct {
		isLast bool
		to     *corev1.ResourceList
	}{{false, &found.Until36}, {true, &found.Since37}} {
		gates := map[string]bool{string(features.PodLevelResourcesFixDefaulting): order.isLast}
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
			return found, err
		}
		var err error
		if *order.to, err = answer(line); err != nil {
			return found, err
		}
	}
	return found, nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for in.Scan() {
		amounts, err := both(in.Bytes())
		if err == nil {
			err = encoder.Encode(amounts)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
