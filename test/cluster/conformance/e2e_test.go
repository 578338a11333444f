// Kubernetes' own tests as one program: the parts of its suite that stand for what a user does with a node. Each test's end
// is written to a file as it comes, so that a run that is cut short has told what it saw.
package conformance

import (
	"encoding/json"
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"k8s.io/kubernetes/test/e2e"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"
	fixtures "k8s.io/kubernetes/test/fixtures"

	_ "k8s.io/kubernetes/test/e2e/apps"
	_ "k8s.io/kubernetes/test/e2e/auth"
	_ "k8s.io/kubernetes/test/e2e/common"
	_ "k8s.io/kubernetes/test/e2e/feature"
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/metrics/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/kubectl"
	_ "k8s.io/kubernetes/test/e2e/network"
	_ "k8s.io/kubernetes/test/e2e/node"
	_ "k8s.io/kubernetes/test/e2e/storage"
	_ "k8s.io/kubernetes/test/utils/ktesting/format"
)

var results = flag.String("results", "", "file to which one line of JSON is appended for each test that ends")

// What the report of one test keeps: its name, how it ended, and what it told.
type outcome struct {
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Labels  []string `json:"labels"`
	Serial  bool     `json:"serial"`
	Seconds float64  `json:"seconds"`
	Failure string   `json:"failure,omitempty"`
	Output  string   `json:"output,omitempty"`
}

var writing sync.Mutex

func write(report ginkgo.SpecReport) error {
	line, err := json.Marshal(outcome{
		Name:    report.FullText(),
		State:   report.State.String(),
		Labels:  report.Labels(),
		Serial:  report.IsSerial,
		Seconds: time.Since(report.StartTime).Seconds(),
		Failure: report.Failure.Message,
		Output:  report.CapturedGinkgoWriterOutput,
	})
	if err != nil {
		return err
	}
	writing.Lock()
	defer writing.Unlock()
	// Several processes append to it, each with a write of its own.
	file, err := os.OpenFile(*results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func TestMain(m *testing.M) {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(fixtures.GetTestFixturesFS())
	framework.AfterReadingAllFlags(&framework.TestContext)
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	// Here, because the framework has looked through a copy of all tests by now that takes such nodes with it.
	ginkgo.ReportAfterEach(func(report ginkgo.SpecReport) {
		// What was not chosen has not been tried.
		if *results == "" || report.NumAttempts == 0 {
			return
		}
		if err := write(report); err != nil {
			ginkgo.Fail("the result of a test cannot be written: " + err.Error())
		}
	})
	e2e.RunE2ETests(t)
}
