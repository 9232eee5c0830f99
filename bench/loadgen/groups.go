package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	errCoordinatorLoading     = 14
	errCoordinatorUnavailable = 15
	errNotCoordinator         = 16
	errIllegalGeneration      = 22
	errRebalanceInProgress    = 27
	errMemberIDRequired       = 79
)

func groupName(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

// findCoordinators asks for the coordinator of each group until it is there: the
// coordinators come up with the first question for them.
func (c *conn) findCoordinators(o *options, prefix string) error {
	t0 := time.Now()
	for g := 0; g < o.groups; {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey = groupName(prefix, g)
		req.CoordinatorKeys = []string{req.CoordinatorKey}
		r, err := c.call(req)
		if err != nil {
			return err
		}
		resp := r.(*kmsg.FindCoordinatorResponse)
		code := resp.ErrorCode
		if len(resp.Coordinators) == 1 {
			code = resp.Coordinators[0].ErrorCode
		}
		if code == 0 {
			g++
		} else if time.Since(t0) > o.timeout {
			return fmt.Errorf("FindCoordinator: error %d", code)
		} else {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// group is what the members of one group know of each other.
type group struct {
	name string
	mu   sync.Mutex
	// Of each member the generation that it is in, 0 before the first.
	generations []int32
	// How many members the leader of which generation has seen.
	seen map[int32]int
}

// settled tells whether all members are in one generation and its leader saw them all.
func (g *group) settled() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.generations {
		if n == 0 || n != g.generations[0] {
			return false
		}
	}
	return g.seen[g.generations[0]] == len(g.generations)
}

// member is one member of a classic group, on a connection of its own as with
// ordinary clients: a JoinGroup holds its connection until the group is complete.
type member struct {
	c          *conn
	topic      string
	g          *group
	slot       int // in g.generations
	id         string
	generation int32
	raw        []byte // its heartbeat
	resp       *kmsg.HeartbeatResponse
}

const sessionMillis, rebalanceMillis = 45_000, 60_000

// join joins and syncs until the member is in a generation.
func (m *member) join(deadline time.Time) error {
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = []string{m.topic}
	wire := metadata.AppendTo(nil)
	for {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.MemberID = m.g.name, m.id
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = sessionMillis, rebalanceMillis
		req.ProtocolType = "consumer"
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = "range", wire
		req.Protocols = append(req.Protocols, protocol)
		r, err := m.c.call(req)
		if err != nil {
			return err
		}
		joined := r.(*kmsg.JoinGroupResponse)
		if joined.MemberID != "" {
			m.id = joined.MemberID
		}
		code := joined.ErrorCode
		if code == 0 {
			code, err = m.sync(joined)
			if err != nil || code == 0 {
				return err
			}
		}
		switch code {
		case errMemberIDRequired, errRebalanceInProgress, errIllegalGeneration:
		case errCoordinatorLoading, errCoordinatorUnavailable, errNotCoordinator:
			time.Sleep(50 * time.Millisecond)
		default:
			return fmt.Errorf("%s: joining: error %d", m.g.name, code)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: joining: still error %d", m.g.name, code)
		}
	}
}

// sync ends a join; the leader gives each member an assignment of nothing.
func (m *member) sync(joined *kmsg.JoinGroupResponse) (code int16, err error) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = m.g.name, m.id, joined.Generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), joined.Protocol
	leads := joined.LeaderID == m.id
	if leads {
		nothing := kmsg.NewConsumerMemberAssignment()
		for _, other := range joined.Members {
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID, a.MemberAssignment = other.MemberID, nothing.AppendTo(nil)
			req.GroupAssignment = append(req.GroupAssignment, a)
		}
	}
	r, err := m.c.call(req)
	if err != nil {
		return 0, err
	}
	if code = r.(*kmsg.SyncGroupResponse).ErrorCode; code != 0 {
		return code, nil
	}
	m.generation = joined.Generation
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	m.g.generations[m.slot] = joined.Generation
	if leads {
		m.g.seen[joined.Generation] = len(joined.Members)
	}
	return 0, nil
}

// settle joins, and joins again when the group goes on to its next generation,
// until the group is whole.
func (m *member) settle(o *options, deadline time.Time) error {
	for {
		if err := m.join(deadline); err != nil {
			return err
		}
		if err := m.prepare(); err != nil {
			return err
		}
		for again := false; !again; {
			if m.g.settled() {
				return nil
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("%s is not whole after %v", m.g.name, o.timeout)
			}
			time.Sleep(100 * time.Millisecond)
			code, _, err := m.heartbeat()
			if err != nil {
				return err
			}
			again = code == errRebalanceInProgress || code == errIllegalGeneration
			if code != 0 && !again {
				return fmt.Errorf("%s: Heartbeat: error %d", m.g.name, code)
			}
		}
	}
}

// prepare encodes the heartbeat of the present generation.
func (m *member) prepare() error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.g.name, m.id, m.generation
	if err := m.c.pick(req); err != nil {
		return err
	}
	m.raw = m.c.encode(req)
	m.resp = req.ResponseKind().(*kmsg.HeartbeatResponse)
	return nil
}

func (m *member) heartbeat() (code int16, took int64, err error) {
	if err := m.c.send(m.raw); err != nil {
		return 0, 0, err
	}
	b, took, err := m.c.recv()
	if err == nil {
		b, err = body(m.resp, b)
	}
	if err == nil {
		err = m.resp.ReadFrom(b)
	}
	return m.resp.ErrorCode, took, err
}

// removeGroups makes all members leave their groups, and deletes these.
func (c *conn) removeGroups(members []*member) error {
	deletion := kmsg.NewPtrDeleteGroupsRequest()
	for len(members) > 0 {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group = members[0].g.name
		for len(members) > 0 && members[0].g.name == req.Group {
			one := kmsg.NewLeaveGroupRequestMember()
			one.MemberID = members[0].id
			req.Members = append(req.Members, one)
			members = members[1:]
		}
		r, err := c.call(req)
		if err != nil {
			return err
		}
		if code := r.(*kmsg.LeaveGroupResponse).ErrorCode; code != 0 {
			return fmt.Errorf("%s: LeaveGroup: error %d", req.Group, code)
		}
		deletion.Groups = append(deletion.Groups, req.Group)
	}
	r, err := c.call(deletion)
	if err != nil {
		return err
	}
	for _, g := range r.(*kmsg.DeleteGroupsResponse).Groups {
		if g.ErrorCode != 0 {
			return fmt.Errorf("%s: DeleteGroups: error %d", g.Group, g.ErrorCode)
		}
	}
	return nil
}

// each runs f for all members at the same time, at most `most` of them at once
// (0: all).
func each(members []*member, most int, f func(i int, m *member) error) error {
	errs := make([]error, len(members))
	if most <= 0 {
		most = len(members)
	}
	gate := make(chan struct{}, most)
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Add(1)
		gate <- struct{}{}
		go func() {
			defer wg.Done()
			errs[i] = f(i, m)
			<-gate
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // one of them says it: thousands may be the same
		}
	}
	return nil
}

// heartbeat brings o.groups classic groups of o.members members up, then lets
// every member heartbeat once in o.interval, each at a moment of its own, and
// clears the groups away. The latency of a heartbeat runs from when it was due.
func heartbeat(o *options) (map[string]any, error) {
	admin, err := dial(o.addr, 65536)
	if err != nil {
		return nil, err
	}
	defer admin.close()
	const prefix = "loadgen-beat"
	if err := admin.findCoordinators(o, prefix); err != nil {
		return nil, err
	}
	members := make([]*member, 0, o.groups*o.members)
	for i := range o.groups {
		g := &group{name: groupName(prefix, i), generations: make([]int32, o.members), seen: map[int32]int{}}
		for slot := range o.members {
			members = append(members, &member{topic: o.topic, g: g, slot: slot})
		}
	}
	defer each(members, 0, func(_ int, m *member) error {
		if m.c != nil {
			m.c.close()
		}
		return nil
	})
	if err := each(members, 32, func(_ int, m *member) (err error) {
		if m.c, err = dial(o.addr, 512); err != nil {
			return err
		}
		// Asked so that no more connections wait to be accepted than a backlog holds.
		err = m.c.negotiate()
		m.c.vers = admin.vers // one copy: not ten thousand
		m.c.buf = nil
		return err
	}); err != nil {
		return nil, err
	}
	t0 := time.Now()
	deadline := t0.Add(o.timeout)
	if err := each(members, 0, func(_ int, m *member) error { return m.settle(o, deadline) }); err != nil {
		return nil, err
	}
	settled := time.Since(t0)

	o.begin()
	hists := make([]hist, min(len(members), 64))
	locks := make([]sync.Mutex, len(hists))
	start := nanos()
	stop := start + int64(o.duration)
	err = each(members, 0, func(i int, m *member) error {
		m.c.nc.SetDeadline(time.Now().Add(o.duration + o.timeout))
		for due := start + int64(o.interval)*int64(i)/int64(len(members)); due < stop; due += int64(o.interval) {
			time.Sleep(time.Duration(due - nanos()))
			code, _, err := m.heartbeat()
			if err != nil {
				return err
			}
			if code != 0 {
				return fmt.Errorf("%s: Heartbeat: error %d", m.g.name, code)
			}
			h := i % len(hists)
			locks[h].Lock()
			hists[h].add(nanos() - due)
			locks[h].Unlock()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rest := stop - nanos(); rest > 0 { // the rate holds for the whole time
		time.Sleep(time.Duration(rest))
	}
	took := float64(nanos()-start) / 1e9
	var h hist
	for i := range hists {
		h.merge(&hists[i])
	}
	if h.cnt == 0 {
		return nil, errors.New("no heartbeat was due: --duration is too short")
	}
	out := map[string]any{"seconds": took, "requests": h.cnt, "requests_s": float64(h.cnt) / took,
		"members": len(members), "settled_ms": millis(settled)}
	h.summary("", out)
	o.end(out)

	// Else the coordinators would be busy with them in the next workload.
	return nil, admin.removeGroups(members)
}
