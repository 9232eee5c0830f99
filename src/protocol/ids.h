// Strong types of the protocol's ids: what a schema's entityType turns into.
#pragma once

#include <cstdint>

#include "base/string.h"
#include "base/strong.h"

namespace thalweg::protocol {

using BrokerId = base::Strong<struct BrokerIdTag, std::int32_t>;
using ProducerId = base::Strong<struct ProducerIdTag, std::int64_t>;
using TopicName = base::StrongString<struct TopicNameTag>;
using GroupId = base::StrongString<struct GroupIdTag>;
using TransactionalId = base::StrongString<struct TransactionalIdTag>;

inline constexpr BrokerId kNoBroker{-1};
inline constexpr ProducerId kNoProducerId{-1};

}  // namespace thalweg::protocol
