package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"clients/check"
)

const n = 100

func main() {
	boot := strings.Split(os.Args[1], ",")
	c := check.New("kafka-go")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cl := &kafka.Client{Addr: kafka.TCP(boot...), Timeout: 20 * time.Second}
	topic, gtopic := c.Name("t"), c.Name("g")

	c.Run("admin-create", func() error {
		r, err := cl.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
			{Topic: topic, NumPartitions: 3, ReplicationFactor: 1}, {Topic: gtopic, NumPartitions: 4, ReplicationFactor: 1}}})
		if err != nil {
			return err
		}
		for _, e := range r.Errors {
			if e != nil {
				return e
			}
		}
		return nil
	})
	c.Run("admin-describe", func() error {
		if !check.Until(10*time.Second, func() bool {
			r, err := cl.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
			return err == nil && len(r.Topics) == 1 && len(r.Topics[0].Partitions) == 3
		}) {
			return errors.New("metadata")
		}
		r, err := cl.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
			{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic, ConfigNames: []string{"cleanup.policy"}}}})
		if err != nil || len(r.Resources[0].ConfigEntries) != 1 {
			return fmt.Errorf("configs %v", err)
		}
		return nil
	})
	write := func(t string, codec kafka.Compression, acks kafka.RequiredAcks) error {
		w := &kafka.Writer{Addr: kafka.TCP(boot...), Topic: t, Compression: codec, RequiredAcks: acks, Balancer: &kafka.RoundRobin{},
			BatchTimeout: 5 * time.Millisecond}
		defer w.Close()
		var ms []kafka.Message
		for i := range n {
			ms = append(ms, kafka.Message{Key: fmt.Append(nil, i), Value: []byte(strings.Repeat("v", 60)), Headers: []kafka.Header{{Key: "h", Value: []byte("v")}}})
		}
		return w.WriteMessages(ctx, ms...)
	}
	for name, codec := range map[string]kafka.Compression{"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd} {
		c.Run("produce-"+name, func() error { return write(topic, codec, kafka.RequireAll) })
	}
	c.Run("consume", func() error {
		got := 0
		for p := range 3 {
			conn, err := kafka.DialLeader(ctx, "tcp", boot[0], topic, p)
			if err != nil {
				return err
			}
			last, err := conn.ReadLastOffset()
			conn.Close()
			if err != nil {
				return err
			}
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: boot, Topic: topic, Partition: p, MaxWait: 200 * time.Millisecond})
			for range last {
				if _, err := r.ReadMessage(ctx); err != nil {
					return err
				}
				got++
			}
			r.Close()
		}
		if got != 5*n {
			return fmt.Errorf("%d records", got)
		}
		return nil
	})
	c.Run("group-commit-classic", func() error {
		if err := write(gtopic, 0, kafka.RequireOne); err != nil {
			return err
		}
		gid := c.Name("group")
		seen := map[string]int{}
		for range 2 {
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: boot, GroupID: gid, Topic: gtopic, StartOffset: kafka.FirstOffset,
				MaxWait: 200 * time.Millisecond})
			for range n / 2 {
				m, err := r.FetchMessage(ctx)
				if err != nil {
					return err
				}
				seen[string(m.Key)]++
				if err := r.CommitMessages(ctx, m); err != nil {
					return err
				}
			}
			if err := r.Close(); err != nil {
				return err
			}
		}
		if len(seen) != n {
			return fmt.Errorf("%d different records", len(seen))
		}
		r, err := cl.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: gid, Topics: map[string][]int{gtopic: {0, 1, 2, 3}}})
		if err != nil {
			return err
		}
		var sum int64
		for _, p := range r.Topics[gtopic] {
			sum += p.CommittedOffset
		}
		if sum != n {
			return fmt.Errorf("committed sum %d", sum)
		}
		if _, err := cl.ListGroups(ctx, &kafka.ListGroupsRequest{}); err != nil {
			return err
		}
		_, err = cl.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{gid}})
		return err
	})
	c.Run("txn-init", func() error {
		r, err := cl.InitProducerID(ctx, &kafka.InitProducerIDRequest{TransactionalID: c.Name("txn"), TransactionTimeoutMs: 10000})
		if err != nil {
			return err
		}
		return r.Error
	})
	c.Run("admin-delete", func() error {
		r, err := cl.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic, gtopic}})
		if err != nil {
			return err
		}
		for _, e := range r.Errors {
			if e != nil {
				return e
			}
		}
		return nil
	})
	c.Done()
}
