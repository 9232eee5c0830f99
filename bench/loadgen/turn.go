package main

import (
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// producePartition is one Produce request of one ready-made batch to one partition.
func producePartition(o *options, rng *rand.Rand, partition int) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = -1
	req.TimeoutMillis = 30000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = o.topic
	tp := kmsg.NewProduceRequestTopicPartition()
	tp.Partition = int32(partition)
	tp.Records = batch(rng, o.records, o.size)
	t.Partitions = append(t.Partitions, tp)
	req.Topics = append(req.Topics, t)
	return req
}

// produced looks at the answer to a producePartition.
func produced(o *options, resp *kmsg.ProduceResponse, b []byte) (records, bytes int64, err error) {
	if b, err = body(resp, b); err == nil {
		err = resp.UnsafeReadFrom(b)
	}
	if err != nil {
		return 0, 0, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		return 0, 0, fmt.Errorf("Produce: %+v", resp.Topics)
	}
	return int64(o.records), int64(o.records * o.size), nil
}

// rounds deals the partitions out in turn, whoever asks.
type rounds struct {
	dealt      atomic.Int64
	partitions int64
}

func (r *rounds) next() int { return int((r.dealt.Add(1) - 1) % r.partitions) }

// turn is produce with all connections together writing to the partitions in
// turn: the next request of any of them goes to the next partition. Before that,
// not measured, every partition gets one request, so that each has its files.
func turn(o *options) (map[string]any, error) {
	var once sync.Once
	var encoding error
	raw := make([][]byte, o.partitions)
	deal := rounds{partitions: int64(o.partitions)}
	return drive(o, 4096, func(i int, c *conn) (*worker, error) {
		first := producePartition(o, rand.New(rand.NewSource(1)), 0)
		if err := c.pick(first); err != nil {
			return nil, err
		}
		resp := first.ResponseKind().(*kmsg.ProduceResponse)
		once.Do(func() {
			rng := rand.New(rand.NewSource(1))
			for p := range raw {
				req := producePartition(o, rng, p)
				if encoding = c.pick(req); encoding != nil {
					return
				}
				raw[p] = c.encode(req)
			}
		})
		if encoding != nil {
			return nil, encoding
		}
		// The connections share what is encoded, and each send writes into it.
		var buf []byte
		own := func(p int) []byte {
			buf = append(buf[:0], raw[p]...)
			return buf
		}
		for p := i; p < o.partitions; p += o.conns {
			if err := c.send(own(p)); err != nil {
				return nil, err
			}
			b, _, err := c.recv()
			if err == nil {
				_, _, err = produced(o, resp, b)
			}
			if err != nil {
				return nil, err
			}
		}
		return &worker{c,
			func() []byte { return own(deal.next()) },
			func(b []byte) (int64, int64, error) { return produced(o, resp, b) }}, nil
	})
}
