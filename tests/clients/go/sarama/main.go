package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"clients/check"
)

const n = 100

type handler struct {
	stopAt int64
	seen   atomic.Int64
	cancel context.CancelFunc
}

func (h *handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (h *handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h *handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				return nil
			}
			k := h.seen.Add(1)
			if k > h.stopAt {
				h.seen.Add(-1)
				return nil
			}
			s.MarkMessage(m, "meta")
			if k == h.stopAt {
				s.Commit()
				h.cancel()
				return nil
			}
		case <-s.Context().Done():
			return nil
		}
	}
}

func main() {
	boot := strings.Split(os.Args[1], ",")
	c := check.New("sarama")
	conf := func() *sarama.Config {
		cf := sarama.NewConfig()
		cf.Version = sarama.MaxVersion
		cf.Producer.Return.Successes = true
		cf.Producer.Partitioner = sarama.NewManualPartitioner
		cf.Consumer.Offsets.Initial = sarama.OffsetOldest
		cf.Consumer.Offsets.AutoCommit.Enable = false
		return cf
	}
	topic, gtopic, ttopic := c.Name("t"), c.Name("g"), c.Name("x")
	adm, err := sarama.NewClusterAdmin(boot, conf())
	if err != nil {
		c.Run("connect", func() error { return err })
		c.Done()
	}
	produce := func(topic string, parts int, cf *sarama.Config) error {
		p, err := sarama.NewSyncProducer(boot, cf)
		if err != nil {
			return err
		}
		defer p.Close()
		var ms []*sarama.ProducerMessage
		for i := range n {
			ms = append(ms, &sarama.ProducerMessage{Topic: topic, Partition: int32(i % parts), Value: sarama.StringEncoder(strings.Repeat("v", 60)),
				Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte("v")}}})
		}
		return p.SendMessages(ms)
	}
	c.Run("admin-create", func() error {
		for t, p := range map[string]int32{topic: 3, gtopic: 4, ttopic: 1} {
			if err := adm.CreateTopic(t, &sarama.TopicDetail{NumPartitions: p, ReplicationFactor: 1}, false); err != nil {
				return err
			}
		}
		return nil
	})
	c.Run("admin-create-duplicate", func() error {
		if err := adm.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 3, ReplicationFactor: 1}, false); !errors.Is(err, sarama.ErrTopicAlreadyExists) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
	c.Run("admin-describe", func() error {
		var last string
		if !check.Until(10*time.Second, func() bool {
			d, err := adm.DescribeTopics([]string{topic})
			last = fmt.Sprint(d, err)
			return err == nil && len(d) == 1 && len(d[0].Partitions) == 3
		}) {
			return errors.New(last)
		}
		brokers, _, err := adm.DescribeCluster()
		if err == nil && len(brokers) == 0 {
			err = errors.New("no brokers")
		}
		return err
	})
	c.Run("admin-log-dirs", func() error {
		_, id, err := adm.DescribeCluster()
		if err != nil {
			return err
		}
		_, err = adm.DescribeLogDirs([]int32{id})
		return err
	})
	c.Run("admin-configs", func() error {
		v := "3600000"
		if err := adm.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
			"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &v}}, false); err != nil {
			return err
		}
		if !check.Until(10*time.Second, func() bool {
			es, err := adm.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"}})
			return err == nil && len(es) == 1 && es[0].Value == v
		}) {
			return errors.New("retention.ms did not change")
		}
		return nil
	})
	for name, codec := range map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD} {
		c.Run("produce-"+name, func() error {
			cf := conf()
			cf.Producer.Compression = codec
			return produce(topic, 3, cf)
		})
	}
	c.Run("produce-idempotent", func() error {
		cf := conf()
		cf.Producer.Idempotent = true
		cf.Producer.RequiredAcks = sarama.WaitForAll
		cf.Net.MaxOpenRequests = 1
		return produce(gtopic, 4, cf)
	})
	// An old client's requests: message sets of format 0 and 1 must still be accepted or refused cleanly.
	c.Run("produce-version-2.1", func() error {
		cf := conf()
		cf.Version = sarama.V2_1_0_0
		return produce(topic, 3, cf)
	})
	read := func(t string, part int32, want int, iso sarama.IsolationLevel, d time.Duration) (int, error) {
		cf := conf()
		cf.Consumer.IsolationLevel = iso
		cons, err := sarama.NewConsumer(boot, cf)
		if err != nil {
			return 0, err
		}
		defer cons.Close()
		pc, err := cons.ConsumePartition(t, part, sarama.OffsetOldest)
		if err != nil {
			return 0, err
		}
		defer pc.Close()
		got, end := 0, time.After(d)
		for got < want {
			select {
			case <-pc.Messages():
				got++
			case <-end:
				return got, nil
			}
		}
		return got, nil
	}
	c.Run("consume", func() error {
		got := 0
		for p := range int32(3) {
			want := 6 * 34
			if p > 0 {
				want = 6 * 33
			}
			k, err := read(topic, p, want, sarama.ReadUncommitted, 20*time.Second)
			if err != nil {
				return err
			}
			got += k
		}
		if got != 6*n {
			return fmt.Errorf("%d records", got)
		}
		return nil
	})
	c.Run("group-commit-classic", func() error {
		gid := c.Name("group")
		for round := range 2 {
			g, err := sarama.NewConsumerGroup(boot, gid, conf())
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			h := &handler{stopAt: n / 2, cancel: cancel}
			for ctx.Err() == nil {
				if err := g.Consume(ctx, []string{gtopic}, h); err != nil {
					cancel()
					return err
				}
			}
			cancel()
			g.Close()
			if h.seen.Load() != n/2 {
				return fmt.Errorf("round %d: %d records", round, h.seen.Load())
			}
		}
		offs, err := adm.ListConsumerGroupOffsets(gid, nil)
		if err != nil {
			return err
		}
		var sum int64
		for _, b := range offs.Blocks[gtopic] {
			if b.Offset > 0 {
				sum += b.Offset
			}
		}
		if sum != n {
			return fmt.Errorf("committed sum %d", sum)
		}
		gs, err := adm.ListConsumerGroups()
		if _, ok := gs[gid]; err != nil || !ok {
			return fmt.Errorf("not listed, %v", err)
		}
		if _, err := adm.DescribeConsumerGroups([]string{gid}); err != nil {
			return err
		}
		return adm.DeleteConsumerGroup(gid)
	})
	c.Run("txn-commit-abort", func() error {
		cf := conf()
		cf.Producer.Idempotent = true
		cf.Producer.RequiredAcks = sarama.WaitForAll
		cf.Net.MaxOpenRequests = 1
		cf.Producer.Transaction.ID = c.Name("txn")
		p, err := sarama.NewSyncProducer(boot, cf)
		if err != nil {
			return err
		}
		defer p.Close()
		for _, end := range []func() error{p.AbortTxn, p.CommitTxn} {
			if err := p.BeginTxn(); err != nil {
				return err
			}
			for range 10 {
				if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: ttopic, Value: sarama.StringEncoder("x")}); err != nil {
					return err
				}
			}
			if err := end(); err != nil {
				return err
			}
		}
		for want, iso := range map[int]sarama.IsolationLevel{10: sarama.ReadCommitted, 20: sarama.ReadUncommitted} {
			got, err := read(ttopic, 0, want+1, iso, 3*time.Second)
			if err != nil || got != want {
				return fmt.Errorf("%d records, want %d, %v", got, want, err)
			}
		}
		return nil
	})
	c.Run("admin-delete-records", func() error { return adm.DeleteRecords(topic, map[int32]int64{0: 5}) })
	c.Run("admin-partitions", func() error { return adm.CreatePartitions(gtopic, 5, nil, false) })
	c.Run("admin-delete", func() error {
		for _, t := range []string{topic, gtopic, ttopic} {
			if err := adm.DeleteTopic(t); err != nil {
				return err
			}
		}
		return nil
	})
	c.Done()
}
