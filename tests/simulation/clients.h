// The clients of a simulated broker: producers, consumers and an administrator. Each does one random thing when its
// turn comes, and tells the ledger what came of it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/error.h"
#include "protocol/messages/fetch_response.h"
#include "protocol/messages/produce_response.h"
#include "runtime/random.h"
#include "simulation/client.h"
#include "simulation/ledger.h"

namespace thalweg::simulation {

// What clients see of the world.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual Ledger& ledger() = 0;
  virtual void connect(Client& client) = 0;
  [[nodiscard]] virtual std::int64_t now_ms() = 0;
  // Whether the disk has failed or was full in this life, so that errors are no surprise.
  [[nodiscard]] virtual bool troubled() = 0;
};

class Actor {
 public:
  Actor(Surroundings& world, std::uint64_t seed) : world_(world), random_(seed) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  // Its turn. While `winding_down` it begins nothing new.
  void act(bool winding_down);
  // Whether it waits for nothing.
  [[nodiscard]] virtual bool settled() const { return client_.waiting() == 0; }
  // What it waits for, for whoever wonders.
  [[nodiscard]] virtual std::string state() const { return fmt::format("{} requests wait", client_.waiting()); }
  Client& client() { return client_; }

 protected:
  virtual void do_something(bool winding_down) = 0;
  // An error that a client may get only where something is wrong with the disk.
  void allow_if_troubled(protocol::ErrorCode error, const std::string& what);
  // One of the partitions there are.
  std::optional<PartitionId> any_partition();
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }

  Surroundings& world_;
  runtime::Random random_;
  Client client_;
};

// Names of topics that are never deleted begin with this, so that a request may name them instead of giving an id.
inline constexpr std::string_view kStable = "stable";

// What producers share: how a batch is made and sent.
class Producer : public Actor {
 public:
  using Actor::Actor;

 protected:
  using Answer = protocol::ProduceResponse::PartitionProduceResponse;
  SentBatch& make_batch(PartitionId where, std::int64_t producer_id, std::int32_t base_sequence);
  // `done` gets the answer or null; with acks=0 it is never called.
  void send(const SentBatch& batch, std::int16_t acks, std::function<void(const Answer*)> done);
};

// Sends each batch once.
class PlainProducer final : public Producer {
 public:
  using Producer::Producer;

 private:
  void do_something(bool winding_down) override;
};

// Sends each batch until it is acknowledged, up to five at a time for a partition, in order.
class IdempotentProducer final : public Producer {
 public:
  using Producer::Producer;
  [[nodiscard]] bool settled() const override;
  [[nodiscard]] std::string state() const override;

 private:
  struct Pending {
    SentBatch* batch;
    bool in_flight = false;
    bool sent_first = false;  // everything before it was acknowledged when it was sent
  };
  struct Lane {
    std::int32_t next_sequence = 0;
    bool must_resend = false;
    std::deque<Pending> pending;
    [[nodiscard]] bool in_flight() const;
  };
  void do_something(bool winding_down) override;
  void ask_for_id();
  void resend(Lane& lane);
  void send_pending(PartitionId where, Pending& pending);
  void answered(PartitionId where, std::uint64_t batch, const Answer* answer);

  std::int64_t id_ = -1;
  bool asked_ = false;
  std::map<PartitionId, Lane> lanes_;
};

class Consumer final : public Actor {
 public:
  using Actor::Actor;

 private:
  using Answer = protocol::FetchResponse::PartitionData;
  void do_something(bool winding_down) override;
  void answered(PartitionId where, std::int64_t offset, const Answer& answer);

  std::map<PartitionId, std::int64_t> positions_;
};

class Administrator final : public Actor {
 public:
  using Actor::Actor;

 private:
  void do_something(bool winding_down) override;
  void create(const std::string& name);
  void remove(const base::Uuid& id);
};

// The whole batches at the front of what a fetch gave; the first must hold `offset`, and each follows the one before.
std::vector<base::Bytes> batches_of(PartitionId where, const base::Bytes& records, std::int64_t offset);

}  // namespace thalweg::simulation
