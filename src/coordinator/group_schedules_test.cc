// Random schedules: clients of several groups whose messages are lost, repeated and late, over a store that takes its
// time and a coordinator that is killed at any point. What must hold whatever happens is checked after each step.
//
//   THALWEG_SCHEDULES=100000   how many (default 400)
//   THALWEG_SCHEDULE=17        only this one, to see it again
//
// The same schedules must find three faults that are put into the coordinator's surroundings on purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "coordinator/group_test_util.h"

namespace thalweg::coordinator {
namespace {

using protocol::ErrorCode;
using protocol::JoinGroupResponse;
using protocol::SyncGroupResponse;

// A fault that the schedules must find.
enum class Plant { none, member_kept_after_its_timeout, commit_from_an_old_generation, offset_lost_at_restart };

constexpr std::int32_t kSession = 6'000;
constexpr std::int32_t kRebalance = 9'000;
constexpr int kPartitions = 4;
constexpr int kSteps = 250;

std::size_t number(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Schedule {
 public:
  Schedule(std::uint64_t seed, Plant plant) : random_(seed), plant_(plant) {
    settings_.initial_rebalance_delay_ms = chance(2) ? 0 : 3'000;
    load();
    const int clients = 2 + static_cast<int>(below(4));
    for (int i = 0; i < clients; ++i) {
      clients_.emplace_back();
      clients_.back().name = "c" + std::to_string(i);
      if (chance(3)) clients_.back().instance = "i" + std::to_string(i);
      clients_.back().session_ms = kSession;
    }
  }

  // What was found wrong; empty: nothing.
  std::string run() {
    for (int i = 0; i < kSteps && fault_.empty(); ++i) {
      step();
      check();
    }
    if (fault_.empty()) settle();
    return fault_;
  }

 private:
  // A consumer as clients are: it joins, syncs, sends heartbeats, commits, and begins anew when told to.
  struct Client {
    std::string name;
    std::optional<std::string> instance;
    std::int32_t session_ms = kSession;
    bool alive = true;
    std::string member;  // as it was told last
    std::string last_member;
    std::int32_t generation = -1;
    bool leads = false;
    std::vector<std::string> others;  // for the leader to assign to
    bool assigned = false;
    bool waits_join = false;
    bool waits_sync = false;
    std::int64_t asked_ms = 0;
    std::uint64_t request = 0;       // its correlation id: answers to earlier ones are not heard
    std::int64_t last_heard_ms = 0;  // when the coordinator last got something valid of it
  };
  struct Message {
    std::function<void()> deliver;
  };

  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Time now() const { return now_; }

  // ---- The coordinator and its store ----

  void load() {
    groups_ = std::make_unique<GroupCoordinator>(settings_, uuids_);
    ++life_;
    store_queue_.clear();
    for (const auto& [id, group] : stored_groups_) {
      Step step;
      CHECK(groups_->load(group, now_, step).has_value(), "what was stored can be loaded");
      take(std::move(step));
    }
    bool lose = plant_ == Plant::offset_lost_at_restart;
    for (const auto& [partition, offset] : stored_offsets_) {
      if (std::exchange(lose, false)) continue;
      groups_->load(offset);
    }
    for (auto& [member, since] : heard_) since = now_.steady_ms;
  }

  void take(Step step) {
    const bool of_state = std::ranges::any_of(
        step.writes, [](const auto& r) { return std::holds_alternative<records::GroupChanged>(r); });
    if (step.writes.empty()) {
      // Behind a change of state that is being stored, as the shell keeps it.
      for (auto it = store_queue_.rbegin(); it != store_queue_.rend(); ++it)
        if (it->of_state) {
          std::ranges::move(step.answers, std::back_inserter(it->step.answers));
          return;
        }
      for (Answer& answer : step.answers) answer(ErrorCode::none);
      return;
    }
    store_queue_.push_back({.of_state = of_state, .step = std::move(step)});
  }

  void store_one() {
    if (store_queue_.empty()) return;
    Stored stored = std::move(store_queue_.front());
    store_queue_.pop_front();
    for (const records::Record& record : stored.step.writes) {
      if (const auto* group = std::get_if<records::GroupChanged>(&record)) stored_groups_[group->group_id] = *group;
      if (const auto* offset = std::get_if<records::OffsetCommitted>(&record))
        stored_offsets_[offset->partition] = *offset;
    }
    groups_->stored(stored.step.writes);
    for (Answer& answer : stored.step.answers) answer(ErrorCode::none);
  }

  // An answer on its way to a client; one of an earlier life of the coordinator never comes.
  template <class Response>
  Reply<Response> reply(std::function<void(const Response&)> take) {
    return [this, take = std::move(take), life = life_](Response response) mutable {
      if (life != life_) return;
      send([take, response = std::move(response)] { take(response); });
    };
  }

  // ---- The network: late, out of order, sometimes lost, sometimes twice ----

  void send(std::function<void()> deliver) {
    if (!good_network_ && chance(25)) return;
    if (!good_network_ && chance(25)) network_.push_back({deliver});
    network_.push_back({std::move(deliver)});
  }
  void deliver_one() {
    if (network_.empty()) return;
    const std::size_t which = chance(3) ? below(network_.size()) : 0;
    Message message = std::move(network_[which]);
    network_.erase(network_.begin() + static_cast<std::ptrdiff_t>(which));
    message.deliver();
  }

  // ---- Clients ----

  void act(Client& client) {
    if (!client.alive) return;
    if (client.waits_join || client.waits_sync) {
      // A client gives a request up when it has no answer for long.
      if (now_.steady_ms - client.asked_ms > kRebalance + kSession) client.waits_join = client.waits_sync = false;
      return;
    }
    if (client.generation < 0) return join(client);
    if (!client.assigned) return sync(client);
    if (chance(3)) return commit(client);
    heartbeat(client);
  }

  void join(Client& client) {
    client.waits_join = true;
    client.asked_ms = now_.steady_ms;
    const std::uint64_t number = ++client.request;
    auto request = std::make_shared<protocol::JoinGroupRequest>();
    request->group_id = protocol::GroupId("g");
    request->member_id = client.member;
    if (client.instance) request->group_instance_id = *client.instance;
    request->session_timeout_ms = client.session_ms;
    request->rebalance_timeout_ms = kRebalance;
    request->protocol_type = "consumer";
    request->protocols.emplace_back().name = "range";
    request->protocols.back().metadata = base::Bytes::copy_of(chance(2) ? "m" : "n");
    send([this, &client, request, number] {
      Step step;
      groups_->join(*request, {.client_id = client.name, .client_host = "/h", .version = 9}, now_,
                    reply<JoinGroupResponse>([this, &client, number](const JoinGroupResponse& r) {
                      if (client.request == number) joined(client, r);
                    }),
                    step);
      heard(request->member_id.str());
      take(std::move(step));
    });
  }

  void joined(Client& client, const JoinGroupResponse& r) {
    if (!client.waits_join) return;
    client.waits_join = false;
    switch (r.error_code) {
      case ErrorCode::none:
        // A static member comes back under a new id, with the assignment of the old one.
        if (client.instance && client.last_member != r.member_id) replaced_.insert(client.last_member);
        client.member = client.last_member = r.member_id.str();
        client.generation = r.generation_id;
        client.leads = r.leader == r.member_id && !r.members.empty() && !r.skip_assignment;
        client.assigned = false;
        client.others.clear();
        for (const auto& m : r.members) client.others.push_back(m.member_id.str());
        return;
      case ErrorCode::member_id_required:
        client.member = r.member_id.str();
        return;
      case ErrorCode::unknown_member_id:
        return forget(client);
      case ErrorCode::fenced_instance_id:
        client.member.clear();
        return;
      default:
        return;
    }
  }

  void sync(Client& client) {
    client.waits_sync = true;
    client.asked_ms = now_.steady_ms;
    const std::uint64_t number = ++client.request;
    auto request = std::make_shared<protocol::SyncGroupRequest>();
    request->group_id = protocol::GroupId("g");
    request->member_id = client.member;
    request->generation_id = client.generation;
    if (client.instance) request->group_instance_id = *client.instance;
    if (client.leads)
      for (std::size_t i = 0; i < client.others.size(); ++i) {
        // Partition p belongs to member p modulo their number; the generation is noted to tell them apart.
        auto& a = request->assignments.emplace_back();
        a.member_id = client.others[i];
        std::string mine = std::to_string(client.generation) + ":";
        for (int p = 0; p < kPartitions; ++p)
          if (static_cast<std::size_t>(p) % client.others.size() == i) mine += std::to_string(p);
        a.assignment = base::Bytes::copy_of(mine);
      }
    send([this, &client, request, number] {
      Step step;
      groups_->sync(*request, now_,
                    reply<SyncGroupResponse>(
                        [this, &client, number, generation = request->generation_id](const SyncGroupResponse& r) {
                          if (client.request == number) synced(client, generation, r);
                        }),
                    step);
      heard(request->member_id.str());
      take(std::move(step));
    });
  }

  void synced(Client& client, std::int32_t generation, const SyncGroupResponse& r) {
    if (!client.waits_sync || client.generation != generation) return;
    client.waits_sync = false;
    if (r.error_code == ErrorCode::none) {
      client.assigned = true;
      const std::string assignment(r.assignment.view());
      // Each assignment of a generation is given to one member only, and never another one later.
      const auto [it, first] = assignments_.try_emplace({generation, client.member}, assignment);
      if (!first && it->second != assignment)
        fault_ = "member " + client.member + " was given two assignments in generation " + std::to_string(generation);
      for (const auto& [key, other] : assignments_)
        if (key.first == generation && key.second != client.member && !assignment.empty() && other == assignment &&
            assignment.back() != ':' && !replaced_.contains(key.second) && !replaced_.contains(client.member))
          fault_ = "two members own the same partitions in generation " + std::to_string(generation);
      return;
    }
    again(client, r.error_code);
  }

  void heartbeat(Client& client) {
    auto request = std::make_shared<protocol::HeartbeatRequest>();
    request->group_id = protocol::GroupId("g");
    request->member_id = client.member;
    request->generation_id = client.generation;
    if (client.instance) request->group_instance_id = *client.instance;
    send([this, &client, request] {
      const ErrorCode error = groups_->heartbeat(*request, now_);
      if (error == ErrorCode::none || error == ErrorCode::rebalance_in_progress) heard(request->member_id.str());
      send([this, &client, error, generation = request->generation_id] {
        if (client.generation == generation && client.assigned) again(client, error);
      });
    });
  }

  void commit(Client& client) {
    OffsetCommit commit{.group_id = "g",
                        .member_id = client.member,
                        .instance_id = client.instance,
                        .generation = client.generation,
                        .version = 9};
    const auto partition = static_cast<std::int32_t>(below(kPartitions));
    commit.offsets.push_back(
        {.topic_id = GroupBench::topic_id(), .topic = "t", .partition = partition, .offset = ++next_offset_});
    send([this, &client, commit] {
      OffsetCommit given = commit;
      const auto* group = groups_->find("g");
      const std::int32_t current = group == nullptr ? -1 : group->classic.generation();
      // The planted fault: the coordinator is told the generation it wants to hear.
      if (plant_ == Plant::commit_from_an_old_generation) given.generation = current;
      const bool is_current = given.generation == current && commit.generation == current;
      Step step;
      groups_->commit(
          given, now_,
          [this, &client, commit, is_current, life = life_](const OffsetCommitOutcome& outcome) {
            if (outcome.error == ErrorCode::none) {
              if (!is_current) fault_ = "a commit of an old generation was taken";
              const auto& o = commit.offsets.front();
              acknowledged_[o.partition] = o.offset;
            }
            if (life != life_) return;
            send([this, &client, error = outcome.error, generation = commit.generation] {
              if (client.generation == generation && client.assigned) again(client, error);
            });
          },
          step);
      if (!step.writes.empty()) heard(commit.member_id);
      take(std::move(step));
    });
  }

  void again(Client& client, ErrorCode error) {
    switch (error) {
      case ErrorCode::none:
        return;
      case ErrorCode::rebalance_in_progress:
        client.generation = -1;
        client.assigned = false;
        return;
      case ErrorCode::illegal_generation:
      case ErrorCode::unknown_member_id:
      case ErrorCode::group_id_not_found:
      case ErrorCode::fenced_instance_id:
        return forget(client);
      default:
        fault_ = "an error that a member cannot understand: " + std::string(protocol::error_name(error));
    }
  }

  void forget(Client& client) {
    client.member.clear();
    client.generation = -1;
    client.assigned = false;
  }

  void heard(const std::string& member) {
    if (const auto* group = groups_->find("g"); group != nullptr && group->classic.members().contains(member))
      heard_[member] = now_.steady_ms;
  }

  // ---- What happens ----

  void step() {
    Client& client = clients_[below(clients_.size())];
    switch (below(16)) {
      case 0:
        return pass(below(4'000));
      case 1:
        return pass(below(200));
      case 2:
        if (chance(8)) {
          client.alive = !client.alive;
          if (client.alive) forget(client);
          client.waits_join = client.waits_sync = false;
        }
        return;
      case 3:
        if (chance(6)) load();
        return;
      case 4:
      case 5:
      case 6:
        return store_one();
      case 7:
      case 8:
      case 9:
      case 10:
        return deliver_one();
      default:
        return act(client);
    }
  }

  void pass(std::uint64_t ms) {
    const std::int64_t end = now_.steady_ms + static_cast<std::int64_t>(ms);
    while (now_.steady_ms < end) {
      const std::int64_t next = std::clamp(groups_->next_deadline(), now_.steady_ms, end);
      now_.wall_ms += next - now_.steady_ms;
      now_.steady_ms = next;
      tick();
      if (groups_->next_deadline() <= now_.steady_ms && plant_ == Plant::member_kept_after_its_timeout) {
        now_.wall_ms += end - now_.steady_ms;
        now_.steady_ms = end;
      }
    }
  }
  void tick() {
    // The planted fault: what is due is not done.
    if (plant_ == Plant::member_kept_after_its_timeout && chance(4)) return;
    for (;;) {
      Step step;
      if (groups_->tick(now_, step).empty()) return;
      take(std::move(step));
    }
  }

  // ---- What must hold ----

  void check() {
    if (!fault_.empty()) return;
    for (const auto& [partition, offset] : acknowledged_) {
      const auto* offsets = groups_->offsets("g");
      const auto* found = offsets == nullptr ? nullptr : offsets->find(GroupBench::topic_id(), partition);
      if (found == nullptr) {
        fault_ = "an acknowledged offset is gone";
        return;
      }
      if (found->offset < offset) fault_ = "an acknowledged offset went back";
    }
    const auto* group = groups_->find("g");
    if (group == nullptr) return;
    const ClassicGroup& classic = group->classic;
    if (classic.generation() < last_generation_ && life_ == generation_life_) fault_ = "the generation went back";
    last_generation_ = classic.generation();
    generation_life_ = life_;
    if (!classic.members().empty() && (!classic.leader() || !classic.members().contains(*classic.leader())))
      fault_ = "the leader is no member";
    if (classic.empty() && !classic.members().empty()) fault_ = "an empty group has members";
    if (classic.state() == ClassicGroup::State::stable && classic.members().empty())
      fault_ = "a stable group has no members";
    for (const auto& [id, member] : classic.members()) {
      if (member.awaits_join() && classic.state() != ClassicGroup::State::preparing_rebalance)
        fault_ = "a member waits in a join of a group that does not prepare";
      if (member.awaits_sync() && classic.state() != ClassicGroup::State::completing_rebalance)
        fault_ = "a member waits in a sync of a group that does not complete";
      if (member.is_new || member.awaits_join() || member.awaits_sync()) continue;
      // A session counts from the last word, or from the coordinator's own last answer, which came later.
      if (member.expires_ms <= now_.steady_ms) fault_ = "a member is kept after its timeout";
      const auto last = heard_.find(id);
      if (last != heard_.end() && classic.state() == ClassicGroup::State::stable &&
          now_.steady_ms - last->second > member.session_timeout_ms + kRebalance + kSession)
        fault_ = "a member was not heard of for too long and is kept";
    }
  }

  // Left alone with a good network, the clients that live must come to a stable group.
  void settle() {
    good_network_ = true;
    for (int i = 0; i < 4'000 && fault_.empty(); ++i) {
      while (!store_queue_.empty()) store_one();
      for (auto& message : std::exchange(network_, {})) message.deliver();
      for (Client& client : clients_) act(client);
      pass(100);
      check();
      if (i > 400 && settled()) return;
    }
    if (fault_.empty()) fault_ = "the group did not become stable";
  }
  bool settled() {
    const auto* group = groups_->find("g");
    const auto alive = std::ranges::count_if(clients_, &Client::alive);
    if (alive == 0) return group == nullptr || group->classic.members().empty();
    return group != nullptr && group->classic.state() == ClassicGroup::State::stable &&
           std::ranges::all_of(clients_, [&](const Client& c) {
             return !c.alive || (c.assigned && group->classic.members().contains(c.member) &&
                                 c.generation == group->classic.generation());
           });
  }

  struct Stored {
    bool of_state = false;
    Step step;
  };

  std::mt19937_64 random_;
  Plant plant_;
  GroupSettings settings_;
  CountingUuids uuids_;
  Time now_{.steady_ms = 1'000, .wall_ms = 1'700'000'000'000};
  std::unique_ptr<GroupCoordinator> groups_;
  std::uint64_t life_ = 0;
  std::deque<Stored> store_queue_;
  std::map<std::string, records::GroupChanged> stored_groups_;
  std::map<std::int32_t, records::OffsetCommitted> stored_offsets_;
  std::deque<Client> clients_;
  std::vector<Message> network_;
  bool good_network_ = false;  // nothing is lost or doubled any more
  std::map<std::string, std::int64_t> heard_;
  std::map<std::pair<std::int32_t, std::string>, std::string> assignments_;
  std::set<std::string> replaced_;
  std::map<std::int32_t, std::int64_t> acknowledged_;
  std::int64_t next_offset_ = 0;
  std::int32_t last_generation_ = 0;
  std::uint64_t generation_life_ = 0;
  std::string fault_;
};

TEST(GroupSchedules, NothingIsEverWrong) {
  base::set_log_level("group", base::LogLevel::off);
  if (const char* only = std::getenv("THALWEG_SCHEDULE")) {
    base::set_log_level("group", base::LogLevel::info);
    EXPECT_EQ(Schedule(std::strtoull(only, nullptr, 10), Plant::none).run(), "");
    return;
  }
  const std::size_t count = number("THALWEG_SCHEDULES", 400);
  for (std::size_t seed = 1; seed <= count; ++seed) {
    const std::string fault = Schedule(seed, Plant::none).run();
    ASSERT_EQ(fault, "") << "THALWEG_SCHEDULE=" << seed << " shows it again";
  }
}

// The schedule that first finds a fault, of a thousand; 0: none did.
std::size_t found_by(Plant plant) {
  base::set_log_level("group", base::LogLevel::off);
  for (std::size_t seed = 1; seed <= 1'000; ++seed)
    if (!Schedule(seed, plant).run().empty()) return seed;
  return 0;
}

TEST(GroupSchedules, FindAMemberThatIsKeptAfterItsTimeout) {
  EXPECT_NE(found_by(Plant::member_kept_after_its_timeout), 0U);
}
TEST(GroupSchedules, FindACommitOfAnOldGenerationThatIsTaken) {
  EXPECT_NE(found_by(Plant::commit_from_an_old_generation), 0U);
}
TEST(GroupSchedules, FindAnOffsetThatIsLostAtARestart) { EXPECT_NE(found_by(Plant::offset_lost_at_restart), 0U); }

}  // namespace
}  // namespace thalweg::coordinator
