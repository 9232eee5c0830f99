// Package check is the harness of the Go clients: every feature prints one PASS, FAIL or SKIP line.
//
// THALWEG_SKIP_FEATURES names, comma-separated, the features that are not run, and
// THALWEG_FEATURE_SECONDS how long one feature may take (default 60).
package check

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrSkip marks a feature that the broker or the client cannot be asked for.
var ErrSkip = errors.New("skip")

// Check counts the features of one client.
type Check struct {
	client string
	runID  string
	skip   []string
	limit  time.Duration
	failed int
}

// New makes the harness for one client, which gives its name to each line.
func New(client string) *Check {
	limit, err := strconv.ParseFloat(os.Getenv("THALWEG_FEATURE_SECONDS"), 64)
	if err != nil {
		limit = 60
	}
	return &Check{
		client: client,
		runID:  fmt.Sprintf("%x", time.Now().UnixNano()&0xffffffffff),
		skip:   strings.Split(os.Getenv("THALWEG_SKIP_FEATURES"), ","),
		limit:  time.Duration(limit * float64(time.Second)),
	}
}

// Name is a name for a topic or a group that no other run uses.
func (c *Check) Name(what string) string { return "interop-" + c.client + "-" + what + "-" + c.runID }

// Run runs one feature and prints its line. A feature that does not end in time is left behind and has failed.
func (c *Check) Run(feature string, fn func() error) {
	if slices.Contains(c.skip, feature) {
		fmt.Printf("SKIP %s %s (expected failure)\n", c.client, feature)
		return
	}
	start := time.Now()
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- fmt.Errorf("panic: %v", r)
			}
		}()
		ended <- fn()
	}()
	var err error
	select {
	case err = <-ended:
	case <-time.After(c.limit):
		err = fmt.Errorf("no end after %v", c.limit)
	}
	switch {
	case errors.Is(err, ErrSkip):
		fmt.Printf("SKIP %s %s: %s\n", c.client, feature, oneLine(err))
	case err != nil:
		c.failed++
		fmt.Printf("FAIL %s %s: %s\n", c.client, feature, oneLine(err))
	default:
		fmt.Printf("PASS %s %s %.2fs\n", c.client, feature, time.Since(start).Seconds())
	}
}

// Done ends the program, with exit code 1 where a feature failed.
func (c *Check) Done() {
	if c.failed > 0 {
		os.Exit(1)
	}
}

// Until tries fn for d: a broker may answer from metadata that lags what it has just done.
func Until(d time.Duration, fn func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if fn() {
			return true
		}
	}
	return false
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }
