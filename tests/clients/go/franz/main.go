package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"clients/check"
)

const n = 100

func main() {
	boot := strings.Split(os.Args[1], ",")
	c := check.New("franz-go")
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	client := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(boot...)}, opts...)...)
		if err != nil {
			panic(err)
		}
		return cl
	}
	adm := kadm.NewClient(client())
	defer adm.Close()
	topic, gtopic, ttopic := c.Name("t"), c.Name("g"), c.Name("x")
	val := func(s string) *string { return &s }

	c.Run("admin-create", func() error {
		if _, err := adm.CreateTopic(ctx, 3, 1, map[string]*string{"retention.ms": val("7200000")}, topic); err != nil {
			return err
		}
		if _, err := adm.CreateTopic(ctx, 4, 1, nil, gtopic); err != nil {
			return err
		}
		_, err := adm.CreateTopic(ctx, 1, 1, nil, ttopic)
		return err
	})
	c.Run("admin-create-duplicate", func() error {
		_, err := adm.CreateTopic(ctx, 3, 1, nil, topic)
		if !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
	c.Run("admin-describe", func() error {
		d, err := adm.ListTopics(ctx, topic)
		if err != nil {
			return err
		}
		if len(d[topic].Partitions) != 3 || d[topic].ID == (kadm.TopicID{}) {
			return fmt.Errorf("%+v", d[topic])
		}
		m, err := adm.BrokerMetadata(ctx)
		if err != nil || m.Cluster == "" {
			return fmt.Errorf("cluster %q %v", m.Cluster, err)
		}
		return nil
	})
	c.Run("admin-log-dirs", func() error {
		l, err := adm.DescribeAllLogDirs(ctx, nil)
		if err != nil || len(l) == 0 {
			return fmt.Errorf("log dirs %v %v", l, err)
		}
		return nil
	})
	c.Run("admin-configs", func() error {
		rs, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: val("3600000")}}, topic)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if r.Err != nil {
				return r.Err
			}
		}
		if !check.Until(10*time.Second, func() bool {
			r, err := adm.DescribeTopicConfigs(ctx, topic)
			if err != nil {
				return false
			}
			for _, kv := range r[0].Configs {
				if kv.Key == "retention.ms" && kv.Value != nil && *kv.Value == "3600000" {
					return true
				}
			}
			return false
		}) {
			return errors.New("retention.ms did not change")
		}
		return nil
	})
	for name, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		c.Run("produce-"+name, func() error {
			cl := client(kgo.ProducerBatchCompression(codec), kgo.RecordPartitioner(kgo.ManualPartitioner()),
				kgo.DisableIdempotentWrite())
			defer cl.Close()
			var rs []*kgo.Record
			for i := range n {
				rs = append(rs, &kgo.Record{Topic: topic, Partition: int32(i % 3), Key: fmt.Append(nil, i),
					Value: []byte(strings.Repeat(name, 30)), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte(name)}}})
			}
			return cl.ProduceSync(ctx, rs...).FirstErr()
		})
	}
	c.Run("produce-idempotent", func() error {
		cl := client()
		defer cl.Close()
		for i := range n {
			if err := cl.ProduceSync(ctx, &kgo.Record{Topic: gtopic, Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
				return err
			}
		}
		return nil
	})
	read := func(cl *kgo.Client, want int, d time.Duration) (rs []*kgo.Record, err error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		for len(rs) < want && ctx.Err() == nil {
			fs := cl.PollRecords(ctx, want-len(rs))
			for _, e := range fs.Errors() {
				if ctx.Err() == nil {
					return rs, e.Err
				}
			}
			rs = append(rs, fs.Records()...)
		}
		return rs, nil
	}
	c.Run("consume", func() error {
		cl := client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		defer cl.Close()
		rs, err := read(cl, 5*n, 20*time.Second)
		if err != nil || len(rs) != 5*n || len(rs[0].Headers) != 1 {
			return fmt.Errorf("%d records, %v", len(rs), err)
		}
		return nil
	})
	group := func(gid string, opts ...kgo.Opt) error {
		opts = append(opts, kgo.ConsumerGroup(gid), kgo.ConsumeTopics(gtopic), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		a := client(opts...)
		rs, err := read(a, n/2, 20*time.Second)
		if err == nil {
			err = a.CommitRecords(ctx, rs...)
		}
		a.Close()
		if err != nil || len(rs) != n/2 {
			return fmt.Errorf("first: %d records, %v", len(rs), err)
		}
		b := client(opts...)
		defer b.Close()
		rs, err = read(b, n/2, 20*time.Second)
		if err != nil || len(rs) != n/2 {
			return fmt.Errorf("second: %d records, %v", len(rs), err)
		}
		if extra, _ := read(b, 1, time.Second); len(extra) != 0 {
			return errors.New("read a record twice")
		}
		offs, err := adm.FetchOffsets(ctx, gid)
		if err != nil {
			return err
		}
		var sum int64
		offs.Each(func(o kadm.OffsetResponse) { sum += o.At })
		if sum != n/2 {
			return fmt.Errorf("committed sum %d", sum)
		}
		l, err := adm.ListGroups(ctx)
		if _, ok := l[gid]; err != nil || !ok {
			return fmt.Errorf("not listed, %v", err)
		}
		return nil
	}
	c.Run("group-commit-classic", func() error {
		gid := c.Name("group")
		if err := group(gid); err != nil {
			return err
		}
		if d, err := adm.DescribeGroups(ctx, gid); err != nil || d.Error() != nil {
			return fmt.Errorf("%v %v", err, d.Error())
		}
		lag, err := adm.Lag(ctx, gid)
		if err != nil || lag[gid].Lag.Total() != n/2 {
			return fmt.Errorf("lag %d %v", lag[gid].Lag.Total(), err)
		}
		_, err = adm.DeleteGroups(ctx, gid)
		return err
	})
	c.Run("group-commit-consumer", func() error {
		gid := c.Name("group848")
		if err := group(gid, kgo.ServerSideBalancer()); err != nil {
			return err
		}
		l, err := adm.ListGroups(ctx)
		if err != nil {
			return err
		}
		if p := l[gid].ProtocolType; p != "consumer" {
			return fmt.Errorf("protocol type %q", p)
		}
		return nil
	})
	c.Run("txn-commit-abort", func() error {
		cl := client(kgo.TransactionalID(c.Name("txn")), kgo.DefaultProduceTopic(ttopic))
		defer cl.Close()
		for _, how := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
			if err := cl.BeginTransaction(); err != nil {
				return err
			}
			for range 10 {
				if err := cl.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr(); err != nil {
					return err
				}
			}
			if err := cl.EndTransaction(ctx, how); err != nil {
				return err
			}
		}
		for want, iso := range map[int]kgo.IsolationLevel{10: kgo.ReadCommitted(), 20: kgo.ReadUncommitted()} {
			r := client(kgo.ConsumeTopics(ttopic), kgo.FetchIsolationLevel(iso), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			rs, err := read(r, want, 20*time.Second)
			extra, _ := read(r, 1, time.Second)
			r.Close()
			if err != nil || len(rs) != want || len(extra) != 0 {
				return fmt.Errorf("%d+%d records, want %d, %v", len(rs), len(extra), want, err)
			}
		}
		return nil
	})
	c.Run("txn-session", func() error {
		gid := c.Name("txn-group")
		s, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(boot...), kgo.ConsumerGroup(gid), kgo.ConsumeTopics(gtopic),
			kgo.TransactionalID(c.Name("session")), kgo.DefaultProduceTopic(ttopic), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.RequireStableFetchOffsets(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			return err
		}
		defer s.Close()
		got := 0
		for end := time.Now().Add(20 * time.Second); got < n && time.Now().Before(end); {
			fs := s.PollFetches(ctx)
			if err := fs.Err(); err != nil {
				return err
			}
			if err := s.Begin(); err != nil {
				return err
			}
			fs.EachRecord(func(r *kgo.Record) { s.Produce(ctx, kgo.SliceRecord(r.Value), nil); got++ })
			if ok, err := s.End(ctx, kgo.TryCommit); err != nil || !ok {
				return fmt.Errorf("end %v %v", ok, err)
			}
		}
		// The markers of a committed transaction may land after EndTxn has answered.
		var sum int64
		if !check.Until(10*time.Second, func() bool {
			offs, _ := adm.FetchOffsets(ctx, gid)
			sum = 0
			offs.Each(func(o kadm.OffsetResponse) { sum += o.At })
			return sum == n
		}) {
			return fmt.Errorf("committed %d", sum)
		}
		return nil
	})
	c.Run("admin-transactions", func() error {
		l, err := adm.ListTransactions(ctx, nil, nil)
		if err != nil {
			return err
		}
		id := c.Name("txn")
		if _, ok := l[id]; !ok {
			return errors.New("not listed")
		}
		d, err := adm.DescribeTransactions(ctx, id)
		if err != nil || d[id].State != "CompleteCommit" {
			return fmt.Errorf("%+v %v", d[id], err)
		}
		_, err = adm.DescribeProducers(ctx, kadm.TopicsSet{ttopic: {0: {}}})
		return err
	})
	c.Run("share-group", func() error {
		gid := c.Name("share")
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		res := kmsg.NewIncrementalAlterConfigsRequestResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, gid
		cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		cfg.Name, cfg.Value = "share.auto.offset.reset", val("earliest")
		res.Configs = append(res.Configs, cfg)
		req.Resources = append(req.Resources, res)
		base := client()
		defer base.Close()
		resp, err := req.RequestWith(ctx, base)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(resp.Resources[0].ErrorCode); err != nil {
			return err
		}
		cl := client(kgo.ShareGroup(gid), kgo.ConsumeTopics(gtopic))
		defer cl.Close()
		got, err := read(cl, n, 30*time.Second)
		if err != nil || len(got) != n {
			return fmt.Errorf("%d records, %v", len(got), err)
		}
		for _, r := range got {
			r.Ack(kgo.AckAccept)
		}
		return nil
	})
	c.Run("admin-acls", func() error {
		name := c.Name("acl") // not a topic of the other features: an ACL for somebody else shuts this client out of it
		b := kadm.NewACLs().Topics(name).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpRead).Allow("User:interop").AllowHosts("*")
		rs, err := adm.CreateACLs(ctx, b)
		if err != nil {
			return err
		}
		if errors.Is(rs[0].Err, kerr.SecurityDisabled) {
			return fmt.Errorf("%w: broker has no authorizer", check.ErrSkip)
		}
		if rs[0].Err != nil {
			return rs[0].Err
		}
		f := kadm.NewACLs().Topics(name).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpRead).Allow("User:interop").AllowHosts("*")
		if !check.Until(5*time.Second, func() bool {
			d, err := adm.DescribeACLs(ctx, f)
			return err == nil && len(d) == 1 && len(d[0].Described) == 1
		}) {
			return errors.New("not described")
		}
		d, err := adm.DeleteACLs(ctx, f)
		if err != nil || len(d[0].Deleted) != 1 {
			return fmt.Errorf("%+v %v", d, err)
		}
		return nil
	})
	c.Run("admin-quotas", func() error {
		e := kadm.ClientQuotaEntity{{Type: "client-id", Name: val(c.Name("quota"))}}
		rs, err := adm.AlterClientQuotas(ctx, []kadm.AlterClientQuotaEntry{{Entity: e, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1e6}}}})
		if err != nil {
			return err
		}
		if rs[0].Err != nil {
			return rs[0].Err
		}
		if !check.Until(5*time.Second, func() bool {
			d, err := adm.DescribeClientQuotas(ctx, true, []kadm.DescribeClientQuotaComponent{{Type: "client-id", MatchName: e[0].Name, MatchType: 0}})
			return err == nil && len(d) == 1
		}) {
			return errors.New("not described")
		}
		_, err = adm.AlterClientQuotas(ctx, []kadm.AlterClientQuotaEntry{{Entity: e, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Remove: true}}}})
		return err
	})
	c.Run("admin-partitions", func() error {
		_, err := adm.UpdatePartitions(ctx, 5, gtopic)
		return err
	})
	c.Run("admin-delete-records", func() error {
		o := kadm.Offsets{}
		o.AddOffset(topic, 0, 5, -1)
		r, err := adm.DeleteRecords(ctx, o)
		if err != nil || r[topic][0].LowWatermark != 5 {
			return fmt.Errorf("%+v %v", r, err)
		}
		return nil
	})
	c.Run("admin-delete", func() error {
		rs, err := adm.DeleteTopics(ctx, topic, gtopic, ttopic)
		if err != nil {
			return err
		}
		return rs.Error()
	})
	c.Done()
}
