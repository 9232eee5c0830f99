// Command crash is franz-go's producer and consumer for tests/crash: programs that go on while the broker is killed, and
// that note each record in a file. ../../../crash/README.md describes the arguments and the file.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	tick       = 20 * time.Millisecond
	mostOpen   = 300 // records without an answer
	flushEvery = 20 * time.Millisecond
	commitWait = 5 * time.Second
)

// notes is the file: whole lines, written by several goroutines.
type notes struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func newNotes(path string) *notes {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	must(err)
	return &notes{out: bufio.NewWriterSize(file, 1<<20)}
}

func (n *notes) line(format string, values ...any) {
	n.mu.Lock()
	fmt.Fprintf(n.out, format+"\n", values...)
	n.mu.Unlock()
}

func (n *notes) flush() {
	n.mu.Lock()
	must(n.out.Flush())
	n.mu.Unlock()
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

// value is what record number seq of a producer holds.
func value(name string, seq int) []byte {
	size := seq * 7919 % 200
	if seq%500 == 499 {
		size = 20_000
	}
	return fmt.Appendf(nil, "%s %d %s", name, seq, strings.Repeat("x", size))
}

func backoff(tries int) time.Duration {
	return min(time.Duration(tries)*20*time.Millisecond, 200*time.Millisecond)
}

func codec(name string) kgo.CompressionCodec {
	switch name {
	case "none":
		return kgo.NoCompression()
	case "gzip":
		return kgo.GzipCompression()
	}
	must(fmt.Errorf("no codec %s", name))
	return kgo.NoCompression()
}

// produce TOPIC PARTITIONS NAME RATE CODEC: until standard input ends.
func produce(boot string, out *notes, args []string) {
	topic, partitions, name, rate := args[0], number(args[1]), args[2], number(args[3])
	client, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5*time.Millisecond), kgo.RetryBackoffFn(backoff), kgo.ProducerBatchCompression(codec(args[4])))
	must(err)
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	go func() {
		for range time.Tick(flushEvery) {
			out.flush()
		}
	}()
	ctx, seq := context.Background(), 0
	var open atomic.Int32
	noted := func(seq int) func(*kgo.Record, error) {
		return func(r *kgo.Record, err error) {
			open.Add(-1)
			if err != nil {
				out.line("fail %d %d %v", seq, r.Partition, err)
			} else {
				out.line("ack %d %d %d", seq, r.Partition, r.Offset)
			}
		}
	}
	pace := time.NewTicker(tick)
	for going := true; going; {
		select {
		case <-ended:
			going = false
		case <-pace.C:
			for range rate * int(tick) / int(time.Second) {
				if open.Load() >= mostOpen {
					break
				}
				open.Add(1)
				record := &kgo.Record{Topic: topic, Partition: int32(seq % partitions), Value: value(name, seq)}
				client.Produce(ctx, record, noted(seq))
				seq++
			}
		}
	}
	must(client.Flush(ctx))
	client.Close()
	out.line("end %d", seq)
	out.flush()
}

// consume TOPIC GROUP ASSIGNOR: until standard input ends; then it leaves the group.
func consume(boot string, out *notes, args []string) {
	topic, group := args[0], args[1]
	balancer := map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer()}[args[2]]
	if balancer == nil {
		must(fmt.Errorf("no assignor %s", args[2]))
	}
	given := func(word string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
			for _, p := range parts[topic] {
				out.line("%s %d %d", word, p, time.Now().UnixMicro())
			}
			out.flush()
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(boot), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group),
		kgo.Balancers(balancer), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.RetryBackoffFn(backoff),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(300*time.Millisecond), kgo.RebalanceTimeout(10*time.Second),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.OnPartitionsAssigned(given("assigned")), kgo.OnPartitionsRevoked(given("revoked")),
		kgo.OnPartitionsLost(given("lost")))
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for ctx.Err() == nil {
		poll, done := context.WithTimeout(ctx, 200*time.Millisecond)
		fetches := client.PollRecords(poll, 200)
		done()
		next := map[int32]int64{}
		fetches.EachRecord(func(r *kgo.Record) {
			out.line("read %d %d %s", r.Partition, r.Offset, firstWords(r.Value))
			next[r.Partition] = r.Offset + 1
		})
		out.flush()
		if len(next) > 0 {
			limit, done := context.WithTimeout(context.Background(), commitWait)
			if err := client.CommitRecords(limit, fetches.Records()...); err == nil {
				now := time.Now().UnixMicro()
				for p, offset := range next {
					out.line("committed %d %d %d", p, offset, now)
				}
			}
			done()
			out.flush()
		}
		client.AllowRebalance()
	}
	client.CloseAllowingRebalance()
	out.line("end")
	out.flush()
}

// firstWords is the producer's name and the record's number.
func firstWords(value []byte) string {
	words := strings.SplitN(string(value), " ", 3)
	return words[0] + " " + words[1]
}

func main() {
	if len(os.Args) < 5 {
		must(fmt.Errorf("usage: crash produce|consume HOST:PORT FILE ARGUMENT..."))
	}
	out := newNotes(os.Args[3])
	switch os.Args[1] {
	case "produce":
		produce(os.Args[2], out, os.Args[4:])
	case "consume":
		consume(os.Args[2], out, os.Args[4:])
	default:
		must(fmt.Errorf("no command %s", os.Args[1]))
	}
}
