package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// consume reads o.count records of a topic from its start, with all partitions
// assigned by hand: what a consumer costs without its group.
func consume(o *options) (map[string]any, error) {
	if o.count <= 0 {
		return nil, errors.New("consume wants --count")
	}
	parts := map[int32]kgo.Offset{}
	for p := range o.partitions {
		parts[int32(p)] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(append(seed(o),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{o.topic: parts}),
	)...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	var records, bytes int64
	t0 := time.Now()
	for records < int64(o.count) {
		fs := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%d of %d records came in %v", records, o.count, o.timeout)
		}
		if err := fs.Err(); err != nil {
			return nil, err
		}
		fs.EachRecord(func(r *kgo.Record) {
			records++
			bytes += int64(len(r.Key) + len(r.Value))
		})
	}
	took := time.Since(t0).Seconds()
	return map[string]any{"records": records, "bytes": bytes, "seconds": took,
		"records_s": float64(records) / took, "mib_s": float64(bytes) / took / (1 << 20)}, nil
}
