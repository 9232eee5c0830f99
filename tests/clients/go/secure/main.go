// Writes one record and reads it back with franz-go over TLS: secure BOOTSTRAP TOPIC CA [CERTIFICATE KEY], PEM files all.
// Prints one line: OK, or ERROR and why.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Println("ERROR", strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Println("OK")
}

func run(boot, topic string, files []string) error {
	authorities, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(authorities) {
		return errors.New("no certificate in " + files[0])
	}
	if len(files) == 3 {
		own, err := tls.LoadX509KeyPair(files[1], files[2])
		if err != nil {
			return err
		}
		// A certificate that the broker would not ask for is shown all the same, so that it can refuse it.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	var failure atomic.Value
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(boot), kgo.DialTLSConfig(config), kgo.AllowAutoTopicCreation(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}),
		kgo.WithHooks(hook(func(err error) { failure.Store(err.Error()) })), kgo.RetryTimeout(8*time.Second), kgo.RecordDeliveryTimeout(15*time.Second))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		if why := failure.Load(); why != nil {
			return fmt.Errorf("%w; connection: %v", err, why)
		}
		return err
	}
	value := "value-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		return err
	}
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			if string(record.Value) == value {
				return nil
			}
		}
	}
}

// hook tells why connections could not be made or broke.
type hook func(error)

func (h hook) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		h(err)
	}
}

func (h hook) OnBrokerRead(_ kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, err error) {
	if err != nil {
		h(err)
	}
}
