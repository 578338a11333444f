// CoreDNS with the plugins that the name server of a cluster of the tests needs, and no others: those of clouds would
// be most of it.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/rewrite"
)

func main() {
	dnsserver.Directives = []string{"bind", "ready", "errors", "loadbalance", "rewrite", "kubernetes"}
	coremain.Run()
}
