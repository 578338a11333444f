// One executable with every Kubernetes component and etcd, for the clusters of the tests: they share their pages in
// memory and take one link instead of seven. The first argument (or the name it is called by) chooses the component.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// cobraComponents build their command only when chosen: each registers flags and metrics in process-wide tables.
var cobraComponents = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": manager.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func known(name string) bool {
	_, found := cobraComponents[name]
	return found || name == "etcd"
}

func main() {
	name := filepath.Base(os.Args[0])
	if !known(name) && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	switch {
	case name == "etcd":
		etcdmain.Main(os.Args)
	case known(name):
		os.Exit(cli.Run(cobraComponents[name]()))
	default:
		names := []string{"etcd"}
		for other := range cobraComponents {
			names = append(names, other)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "%q is not a component; choose one of %s\n", name, strings.Join(names, ", "))
		os.Exit(2)
	}
}
