// What the cluster of a Kafka broker of the KRaft kind knows, out of its
// metadata log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/uuid.h"
#include "records/acl.h"
#include "records/delegation_token.h"
#include "records/record.h"
#include "records/scram_credential.h"
#include "runtime/file.h"

namespace thalweg::cli {

inline constexpr std::string_view kKafkaMetadataFolder = "__cluster_metadata-0";

struct KafkaTopic {
  std::string name;
  // Leader epochs by partition.
  std::map<std::int32_t, std::int32_t> partitions;
};

struct KafkaMetadata {
  std::map<base::Uuid, KafkaTopic> topics;
  std::map<std::pair<records::ConfigResource, std::string>, std::string> configs;
  std::map<base::Uuid, records::Acl> acls;
  std::map<records::ScramKey, records::ScramCredential> scram_credentials;
  std::map<std::string, records::DelegationToken> tokens;
  std::int64_t next_producer_id = 0;
  // Client quotas, as ENTITY: KEY.
  std::set<std::string> quotas;
};

// Reads the newest snapshot in the metadata log's folder and the log behind it,
// up to its end. Records of a transaction that was not ended are passed over,
// as are those about brokers and controllers.
//   errors   one line: a file cannot be read, or is damaged
base::Result<KafkaMetadata, std::string> read_kafka_metadata(runtime::FileSystem& files, const std::string& folder);

}  // namespace thalweg::cli
