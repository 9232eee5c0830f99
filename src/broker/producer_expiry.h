// ProducerExpiry: makes the logs of one core forget producers that have been silent for producer.id.expiration.ms. One
// per core. It looks every producer.id.expiration.check.interval.ms.
#pragma once

#include <cstdint>

namespace thalweg::broker {

class Shard;

class ProducerExpiry {
 public:
  explicit ProducerExpiry(Shard& shard) : shard_(shard) {}
  ProducerExpiry(const ProducerExpiry&) = delete;
  ProducerExpiry& operator=(const ProducerExpiry&) = delete;

  // The first look comes an interval from now.
  void start();

 private:
  void look();

  Shard& shard_;
};

}  // namespace thalweg::broker
