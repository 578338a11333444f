// Says what Kubernetes itself would reserve for pods: one JSON document a line in, one JSON object of amounts a line
// out. The pod goes the way that a created pod goes in the API server: defaults, LimitRanges, the overhead of its
// RuntimeClass, defaults again when it is read back; then the scheduler's own sum.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/v1"
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

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for in.Scan() {
		amounts, err := answer(in.Bytes())
		if err == nil {
			err = encoder.Encode(amounts)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
