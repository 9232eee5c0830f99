#include "metadata/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "metadata/engine.h"
#include "metadata/sql.h"
#include "metadata/sqlite.h"
#include "metadata/sqlite_migration.h"
#include "metadata/writer.h"
#include "records/codec.h"
#include "runtime/file.h"

namespace thalweg::metadata {

namespace {

using sql::Statement;
using sqlite::Connection;
using sqlite::Cursor;

constexpr std::size_t index_of(Statement statement) { return static_cast<std::size_t>(statement); }

class SqliteEngine final : public Engine {
 public:
  enum class Use { serving, reading };
  SqliteEngine(std::unique_ptr<Connection> connection, const SqliteOptions& options, Use use = Use::serving)
      : connection_(std::move(connection)),
        options_(options),
        next_checkpoint_(options.idle_checkpoint_pages),
        broken_(use == Use::reading) {
    sqlite3_wal_hook(connection_->handle(), &SqliteEngine::wal_grew, this);
  }
  // The hook must not run into an engine that is gone.
  ~SqliteEngine() override { close(); }

  EngineResult<Loaded> load() override;
  EngineResult<Revision> begin() override;
  EngineResult<std::optional<std::vector<AppliedChange>>> changes_since(Revision seen) override;
  EngineResult<Revision> group_version(const std::string& group_id) override;
  EngineResult<void> write(const WriteSet& change) override;
  EngineResult<void> trim_changes(std::int64_t keep) override;
  EngineResult<void> commit(Revision newest) override;
  void rollback() override;
  EngineResult<GroupPage> load_groups(const GroupRange& range) override;
  EngineResult<std::optional<std::int64_t>> maintain(bool idle) override;
  void close() override {
    if (connection_) connection_->move_wal_on_close(!broken_);
    connection_.reset();
  }

 private:
  template <class... Values>
  EngineResult<void> run(Statement statement, const Values&... values) {
    return connection_->run(index_of(statement), values...);
  }
  template <class... Values>
  Cursor query(Statement statement, const Values&... values) {
    return connection_->begin(index_of(statement), values...);
  }
  EngineResult<std::int64_t> number(Statement statement);
  [[nodiscard]] std::unexpected<EngineFault> damaged(std::string_view what) const {
    return std::unexpected(
        EngineFault{.kind = EngineFault::Kind::broken, .message = fmt::format("{}: {}", connection_->path(), what)});
  }
  static int wal_grew(void* engine, sqlite3* /*handle*/, const char* /*database*/, int pages) {
    static_cast<SqliteEngine*>(engine)->wal_pages_ = pages;
    return SQLITE_OK;
  }

  EngineResult<void> load_nodes(Snapshot& snapshot);
  EngineResult<void> load_topics(Snapshot& snapshot);
  EngineResult<void> load_configs(Snapshot& snapshot);
  EngineResult<void> load_leases(Snapshot& snapshot);
  EngineResult<void> load_acls(Snapshot& snapshot);
  EngineResult<void> load_scram_credentials(Snapshot& snapshot);
  EngineResult<void> load_delegation_tokens(Snapshot& snapshot);

  EngineResult<void> write_node(protocol::BrokerId id, const WriteSet& change);
  EngineResult<void> write_partitions(const base::Uuid& topic_id, std::int32_t from, const WriteSet& change);
  EngineResult<void> write_record(const records::ClusterCreated& r, const WriteSet& change);
  EngineResult<void> write_record(const records::NodeRegistered& r, const WriteSet& change);
  EngineResult<void> write_record(const records::NodeStarted& r, const WriteSet& change);
  EngineResult<void> write_record(const records::TopicCreated& r, const WriteSet& change);
  EngineResult<void> write_record(const records::PartitionsAdded& r, const WriteSet& change);
  EngineResult<void> write_record(const records::TopicDeleted& r, const WriteSet& change);
  EngineResult<void> write_record(const records::PartitionChanged& r, const WriteSet& change);
  EngineResult<void> write_record(const records::ConfigSet& r, const WriteSet& change);
  EngineResult<void> write_record(const records::ConfigRemoved& r, const WriteSet& change);
  EngineResult<void> write_record(const records::ProducerIdBlockAllocated& r, const WriteSet& change);
  EngineResult<void> write_record(const records::LeaseChanged& r, const WriteSet& change);
  EngineResult<void> run_for(Statement statement, const records::Acl& acl);
  EngineResult<void> write_record(const records::AclAdded& r, const WriteSet& change);
  EngineResult<void> write_record(const records::AclRemoved& r, const WriteSet& change);
  EngineResult<void> write_record(const records::ScramCredentialSet& r, const WriteSet& change);
  EngineResult<void> write_record(const records::ScramCredentialRemoved& r, const WriteSet& change);
  EngineResult<void> write_record(const records::DelegationTokenCreated& r, const WriteSet& change);
  EngineResult<void> write_record(const records::DelegationTokenRenewed& r, const WriteSet& change);
  EngineResult<void> write_record(const records::DelegationTokenRemoved& r, const WriteSet& change);
  EngineResult<void> write_token(const std::string& id, const WriteSet& change);
  EngineResult<void> write_record(const records::OffsetCommitted& r, const WriteSet& change);
  EngineResult<void> write_record(const records::OffsetDeleted& r, const WriteSet& change);
  EngineResult<void> write_record(const records::GroupChanged& r, const WriteSet& change);
  EngineResult<void> write_record(const records::GroupDeleted& r, const WriteSet& change);

  std::unique_ptr<Connection> connection_;
  const SqliteOptions options_;
  std::int64_t wal_pages_ = 0;
  std::int64_t next_checkpoint_;  // pages that the next checkpoint waits for at least
  bool broken_;                   // a sync has failed, or the file is damaged: the WAL stays where it is
  std::vector<std::uint8_t> scratch_;
};

// ---- reading ----

EngineResult<std::int64_t> SqliteEngine::number(Statement statement) {
  Cursor row = query(statement);
  ASSIGN_OR_RETURN(const bool there, row.next());
  if (!there) return damaged("the row of the store is missing");
  return row.number(0);
}

EngineResult<Engine::Loaded> SqliteEngine::load() {
  Loaded loaded;
  {
    Cursor row = query(Statement::select_store);
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return damaged("the row of the store is missing");
    loaded.newest = Revision(row.number(0));
    loaded.snapshot.restore_facts(std::string(row.text(1)), row.number(2));
  }
  TRY(load_nodes(loaded.snapshot));
  TRY(load_topics(loaded.snapshot));
  TRY(load_configs(loaded.snapshot));
  TRY(load_leases(loaded.snapshot));
  TRY(load_acls(loaded.snapshot));
  TRY(load_scram_credentials(loaded.snapshot));
  TRY(load_delegation_tokens(loaded.snapshot));
  loaded.snapshot.advance_to(loaded.newest);
  return loaded;
}

EngineResult<void> SqliteEngine::load_nodes(Snapshot& snapshot) {
  Cursor row = query(Statement::select_nodes);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    std::span<const std::uint8_t> bytes = row.bytes(0);
    auto registration = records::decode(bytes);
    if (!registration.has_value()) return damaged(fmt::format("a node: {}", registration.error().what));
    auto* const node = std::get_if<records::NodeRegistered>(&*registration);
    if (node == nullptr) return damaged("a node is another record");
    snapshot.restore_node({.registration = std::move(*node),
                           .registered = Revision(row.number(1)),
                           .started_ms = row.number(2),
                           .unclean_starts = static_cast<std::int32_t>(row.number(3))});
  }
}

// Topics and partitions come in the order of topic ids, so one pass over both puts them together.
EngineResult<void> SqliteEngine::load_topics(Snapshot& snapshot) {
  Cursor row = query(Statement::select_topics);
  Cursor partition = query(Statement::select_partitions);
  ASSIGN_OR_RETURN(bool more, partition.next());
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) break;
    ASSIGN_OR_RETURN(const base::Uuid id, row.uuid(0));
    Topic topic{.name = row.text(1),
                .id = id,
                .created_ms = row.number(2),
                .replication_factor = static_cast<std::int16_t>(row.number(3)),
                .version = Revision(row.number(4)),
                .partitions = {}};
    std::vector<Partition> partitions;
    while (more) {
      ASSIGN_OR_RETURN(const base::Uuid of, partition.uuid(0));
      if (of != id) break;
      ASSIGN_OR_RETURN(const base::Uuid directory, partition.uuid(3));
      partitions.push_back({.leader = protocol::BrokerId(static_cast<std::int32_t>(partition.number(1))),
                            .epoch_base = static_cast<std::int32_t>(partition.number(2)),
                            .directory = directory});
      ASSIGN_OR_RETURN(more, partition.next());
    }
    topic.partitions.append(partitions);
    snapshot.restore_topic(std::move(topic));
  }
  if (more) return damaged("a partition belongs to no topic");
  return {};
}

EngineResult<void> SqliteEngine::load_configs(Snapshot& snapshot) {
  Cursor row = query(Statement::select_configs);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    snapshot.restore_config(
        {.type = static_cast<records::ResourceType>(row.number(0)), .name = std::string(row.text(1))},
        std::string(row.text(2)), {.value = std::string(row.text(3)), .version = Revision(row.number(4))});
  }
}

EngineResult<void> SqliteEngine::load_leases(Snapshot& snapshot) {
  Cursor row = query(Statement::select_leases);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    snapshot.restore_lease(std::string(row.text(0)),
                           {.owner = protocol::BrokerId(static_cast<std::int32_t>(row.number(1))),
                            .epoch = static_cast<std::int32_t>(row.number(2)),
                            .expires_ms = row.number(3)});
  }
}

EngineResult<void> SqliteEngine::load_acls(Snapshot& snapshot) {
  Cursor row = query(Statement::select_acls);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    snapshot.restore_acl({.resource_type = static_cast<records::AclResourceType>(row.number(0)),
                          .resource_name = std::string(row.text(1)),
                          .pattern_type = static_cast<records::AclPatternType>(row.number(2)),
                          .principal = std::string(row.text(3)),
                          .host = std::string(row.text(4)),
                          .operation = static_cast<records::AclOperation>(row.number(5)),
                          .permission = static_cast<records::AclPermission>(row.number(6))});
  }
}

EngineResult<void> SqliteEngine::load_scram_credentials(Snapshot& snapshot) {
  Cursor row = query(Statement::select_scram_credentials);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    snapshot.restore_scram_credential(
        {.user = std::string(row.text(0)), .mechanism = static_cast<records::ScramMechanism>(row.number(1))},
        {.iterations = static_cast<std::int32_t>(row.number(2)),
         .salt = base::Bytes::copy_of(row.bytes(3)),
         .stored_key = base::Bytes::copy_of(row.bytes(4)),
         .server_key = base::Bytes::copy_of(row.bytes(5))});
  }
}

EngineResult<void> SqliteEngine::load_delegation_tokens(Snapshot& snapshot) {
  Cursor row = query(Statement::select_delegation_tokens);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    std::span<const std::uint8_t> bytes = row.bytes(0);
    auto record = records::decode(bytes);
    if (!record.has_value()) return damaged(fmt::format("a delegation token: {}", record.error().what));
    auto* const set = std::get_if<records::DelegationTokenCreated>(&*record);
    if (set == nullptr) return damaged("a delegation token is another record");
    snapshot.restore_delegation_token(std::move(set->token));
  }
}

EngineResult<std::optional<std::vector<AppliedChange>>> SqliteEngine::changes_since(Revision seen) {
  ASSIGN_OR_RETURN(const std::int64_t trimmed, number(Statement::select_trimmed));
  if (seen.value() < trimmed) return std::nullopt;
  std::vector<AppliedChange> changes;
  Cursor row = query(Statement::select_changes, seen);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return changes;
    auto records = records::decode_all(row.bytes(1));
    if (!records.has_value())
      return damaged(fmt::format("the change of revision {}: {} at byte {}", row.number(0), records.error().what,
                                 records.error().position));
    changes.push_back({.revision = Revision(row.number(0)), .records = std::move(*records)});
  }
}

EngineResult<Revision> SqliteEngine::group_version(const std::string& group_id) {
  Cursor row = query(Statement::select_group_version, group_id);
  ASSIGN_OR_RETURN(const bool there, row.next());
  return there ? Revision(row.number(0)) : kNothing;
}

EngineResult<GroupPage> SqliteEngine::load_groups(const GroupRange& range) {
  GroupPage page;
  Cursor group = query(Statement::select_groups, range.first);
  Cursor offset = query(Statement::select_offsets, range.first);
  ASSIGN_OR_RETURN(bool groups_left, group.next());
  ASSIGN_OR_RETURN(bool offsets_left, offset.next());
  while (groups_left || offsets_left) {
    const bool offsets_only = !groups_left || (offsets_left && offset.text(0) < group.text(0));
    const std::string id(offsets_only ? offset.text(0) : group.text(0));
    if (!range.end.empty() && id >= range.end) break;
    if (page.groups.size() + page.offsets.size() >= range.rows) {
      page.next = id;
      break;
    }
    if (!offsets_only) {
      page.groups.push_back({.state = {.group_id = id,
                                       .kind = static_cast<records::GroupKind>(group.number(1)),
                                       .state_version = static_cast<std::int16_t>(group.number(2)),
                                       .state = base::Bytes::copy_of(group.bytes(3))},
                             .version = Revision(group.number(4))});
      ASSIGN_OR_RETURN(groups_left, group.next());
    }
    while (offsets_left && offset.text(0) == id) {
      ASSIGN_OR_RETURN(const base::Uuid topic_id, offset.uuid(1));
      page.offsets.push_back({.group_id = id,
                              .topic_id = topic_id,
                              .topic = std::string(offset.text(2)),
                              .partition = static_cast<std::int32_t>(offset.number(3)),
                              .offset = offset.number(4),
                              .leader_epoch = static_cast<std::int32_t>(offset.number(5)),
                              .metadata = std::string(offset.text(6)),
                              .commit_ms = offset.number(7),
                              .expire_ms = offset.number(8)});
      ASSIGN_OR_RETURN(offsets_left, offset.next());
    }
  }
  return page;
}

// ---- writing ----

EngineResult<Revision> SqliteEngine::begin() {
  // IMMEDIATE: a transaction that read first and then finds another writer ahead could only start again.
  TRY(connection_->execute("BEGIN IMMEDIATE"));
  auto revision = number(Statement::select_revision);
  if (!revision.has_value()) {
    rollback();
    return std::unexpected(std::move(revision).error());
  }
  return Revision(*revision);
}

EngineResult<void> SqliteEngine::commit(Revision newest) {
  auto done = run(Statement::update_revision, newest);
  if (done.has_value()) done = connection_->execute("COMMIT");
  if (done.has_value()) return done;
  broken_ = broken_ || done.error().kind == EngineFault::Kind::broken;
  rollback();
  return done;
}

void SqliteEngine::rollback() {
  // Some faults have rolled back already.
  if (sqlite3_get_autocommit(connection_->handle()) == 0)
    sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

EngineResult<void> SqliteEngine::trim_changes(std::int64_t keep) {
  std::int64_t last = 0;
  {
    Cursor row = query(Statement::select_trim_point, keep);
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return {};
    last = row.number(0);
  }
  TRY(run(Statement::delete_changes, last));
  return run(Statement::update_trimmed, last);
}

EngineResult<void> SqliteEngine::write(const WriteSet& change) {
  scratch_.clear();
  for (const records::Record& record : change.records) {
    TRY(std::visit([&](const auto& r) { return write_record(r, change); }, record));
    if (!records::of_coordinator(record)) records::encode(record, scratch_);
  }
  if (scratch_.empty()) return {};
  return run(Statement::insert_change, change.revision, std::span<const std::uint8_t>(scratch_));
}

// Rows are written as they are after the whole change set: a later record of it has its say in an earlier one's rows.

EngineResult<void> SqliteEngine::write_record(const records::ClusterCreated& r, const WriteSet& /*change*/) {
  return run(Statement::update_cluster_id, r.cluster_id);
}

EngineResult<void> SqliteEngine::write_node(protocol::BrokerId id, const WriteSet& change) {
  const Node& node = *change.after.node(id);
  std::vector<std::uint8_t> registration;
  records::encode(node.registration, registration);
  return run(Statement::upsert_node, id, std::span<const std::uint8_t>(registration), node.registered, node.started_ms,
             node.unclean_starts);
}

EngineResult<void> SqliteEngine::write_record(const records::NodeRegistered& r, const WriteSet& change) {
  return write_node(r.node_id, change);
}

EngineResult<void> SqliteEngine::write_record(const records::NodeStarted& r, const WriteSet& change) {
  return write_node(r.node_id, change);
}

// Writes the partitions that the topic did not have before.
EngineResult<void> SqliteEngine::write_partitions(const base::Uuid& topic_id, std::int32_t from,
                                                  const WriteSet& change) {
  const Partitions& partitions = change.after.topic(topic_id)->partitions;
  for (std::int32_t i = from; i < partitions.size(); ++i)
    TRY(run(Statement::upsert_partition, topic_id, i, partitions[i].leader, partitions[i].epoch_base,
            partitions[i].directory));
  return {};
}

EngineResult<void> SqliteEngine::write_record(const records::TopicCreated& r, const WriteSet& change) {
  const Topic* const topic = change.after.topic(r.topic_id);
  if (topic == nullptr) return {};  // deleted by the same change set
  TRY(run(Statement::insert_topic, topic->id, topic->name.view(), topic->created_ms, topic->replication_factor,
          topic->version));
  // All of them, also where the change set deleted one of that id before: its rows are gone.
  return write_partitions(r.topic_id, 0, change);
}

EngineResult<void> SqliteEngine::write_record(const records::PartitionsAdded& r, const WriteSet& change) {
  if (change.after.topic(r.topic_id) == nullptr) return {};
  TRY(run(Statement::update_topic_version, change.revision, r.topic_id));
  const Topic* const before = change.before.topic(r.topic_id);
  return write_partitions(r.topic_id, before == nullptr ? 0 : before->partitions.size(), change);
}

EngineResult<void> SqliteEngine::write_record(const records::TopicDeleted& r, const WriteSet& /*change*/) {
  TRY(run(Statement::delete_topic_configs, std::int64_t{std::to_underlying(records::ResourceType::topic)}, r.topic_id));
  TRY(run(Statement::delete_partitions, r.topic_id));
  TRY(run(Statement::delete_topic_offsets, r.topic_id));
  return run(Statement::delete_topic, r.topic_id);
}

EngineResult<void> SqliteEngine::write_record(const records::PartitionChanged& r, const WriteSet& change) {
  const Topic* const topic = change.after.topic(r.topic_id);
  if (topic == nullptr) return {};
  const Partition& partition = topic->partitions[r.partition];
  TRY(run(Statement::update_topic_version, change.revision, r.topic_id));
  return run(Statement::upsert_partition, r.topic_id, r.partition, partition.leader, partition.epoch_base,
             partition.directory);
}

EngineResult<void> SqliteEngine::write_record(const records::ConfigSet& r, const WriteSet& change) {
  return run(Statement::upsert_config, std::int64_t{std::to_underlying(r.resource.type)}, r.resource.name, r.key,
             r.value, change.revision);
}

EngineResult<void> SqliteEngine::write_record(const records::ConfigRemoved& r, const WriteSet& /*change*/) {
  return run(Statement::delete_config, std::int64_t{std::to_underlying(r.resource.type)}, r.resource.name, r.key);
}

EngineResult<void> SqliteEngine::write_record(const records::ProducerIdBlockAllocated& r, const WriteSet& /*change*/) {
  return run(Statement::update_next_producer_id, r.next_producer_id);
}

EngineResult<void> SqliteEngine::write_record(const records::LeaseChanged& r, const WriteSet& /*change*/) {
  return run(Statement::upsert_lease, r.name, r.owner, r.epoch, r.expires_ms);
}

EngineResult<void> SqliteEngine::run_for(Statement statement, const records::Acl& acl) {
  return run(statement, std::int64_t{std::to_underlying(acl.resource_type)}, acl.resource_name,
             std::int64_t{std::to_underlying(acl.pattern_type)}, acl.principal, acl.host,
             std::int64_t{std::to_underlying(acl.operation)}, std::int64_t{std::to_underlying(acl.permission)});
}

EngineResult<void> SqliteEngine::write_record(const records::AclAdded& r, const WriteSet& /*change*/) {
  return run_for(Statement::insert_acl, r.acl);
}

EngineResult<void> SqliteEngine::write_record(const records::AclRemoved& r, const WriteSet& /*change*/) {
  return run_for(Statement::delete_acl, r.acl);
}

EngineResult<void> SqliteEngine::write_record(const records::ScramCredentialSet& r, const WriteSet& /*change*/) {
  return run(Statement::upsert_scram_credential, r.key.user, std::int64_t{std::to_underlying(r.key.mechanism)},
             r.credential.iterations, r.credential.salt.span(), r.credential.stored_key.span(),
             r.credential.server_key.span());
}

EngineResult<void> SqliteEngine::write_record(const records::ScramCredentialRemoved& r, const WriteSet& /*change*/) {
  return run(Statement::delete_scram_credential, r.key.user, std::int64_t{std::to_underlying(r.key.mechanism)});
}

// Writes what the token is after the change set; one that the same change set also removes leaves nothing to write.
EngineResult<void> SqliteEngine::write_token(const std::string& id, const WriteSet& change) {
  const auto token = change.after.delegation_token(id);
  if (token == nullptr) return {};
  scratch_.clear();
  records::encode(records::DelegationTokenCreated{.token = *token}, scratch_);
  return run(Statement::upsert_delegation_token, id, std::span<const std::uint8_t>(scratch_));
}

EngineResult<void> SqliteEngine::write_record(const records::DelegationTokenCreated& r, const WriteSet& change) {
  return write_token(r.token.token_id, change);
}

EngineResult<void> SqliteEngine::write_record(const records::DelegationTokenRenewed& r, const WriteSet& change) {
  return write_token(r.token_id, change);
}

EngineResult<void> SqliteEngine::write_record(const records::DelegationTokenRemoved& r, const WriteSet& /*change*/) {
  return run(Statement::delete_delegation_token, r.token_id);
}

EngineResult<void> SqliteEngine::write_record(const records::OffsetCommitted& r, const WriteSet& change) {
  if (change.after.topic(r.topic_id) == nullptr) return {};
  return run(Statement::upsert_offset, r.group_id, r.topic_id, r.partition, r.topic, r.offset, r.leader_epoch,
             r.metadata, r.commit_ms, r.expire_ms);
}

EngineResult<void> SqliteEngine::write_record(const records::OffsetDeleted& r, const WriteSet& /*change*/) {
  return run(Statement::delete_offset, r.group_id, r.topic_id, r.partition);
}

EngineResult<void> SqliteEngine::write_record(const records::GroupChanged& r, const WriteSet& change) {
  return run(Statement::upsert_group, r.group_id, std::int64_t{std::to_underlying(r.kind)}, r.state_version,
             r.state.span(), change.revision);
}

EngineResult<void> SqliteEngine::write_record(const records::GroupDeleted& r, const WriteSet& /*change*/) {
  TRY(run(Statement::delete_group_offsets, r.group_id));
  return run(Statement::delete_group, r.group_id);
}

// ---- checkpoints ----

EngineResult<std::optional<std::int64_t>> SqliteEngine::maintain(bool idle) {
  const std::int64_t enough = idle ? options_.idle_checkpoint_pages : options_.busy_checkpoint_pages;
  if (wal_pages_ < std::max(enough, next_checkpoint_)) return std::nullopt;
  int in_wal = 0;
  int moved = 0;
  // PASSIVE moves what no reader still needs and waits for nobody. Once all is moved, the next write begins the WAL
  // anew.
  if (sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &moved) !=
      SQLITE_OK) {
    next_checkpoint_ = wal_pages_ + options_.idle_checkpoint_pages;
    EngineFault fault = sqlite::fault_of(connection_->handle(), connection_->path() + ": checkpoint");
    broken_ = broken_ || fault.kind == EngineFault::Kind::broken;
    return std::unexpected(std::move(fault));
  }
  const bool whole = moved == in_wal;
  if (whole) wal_pages_ = 0;
  // Where a reader from outside holds pages back, the next try waits for more to do.
  next_checkpoint_ = options_.idle_checkpoint_pages + (whole ? 0 : in_wal);
  return moved;
}

// ---- opening ----

std::unexpected<EngineFault> refused(const std::string& message) {
  return std::unexpected(EngineFault{.kind = EngineFault::Kind::failed, .message = message});
}

EngineResult<void> configure(Connection& connection) {
  sqlite3_busy_timeout(connection.handle(), 5'000);
  ASSIGN_OR_RETURN(const std::string mode, connection.single("PRAGMA journal_mode = WAL"));
  if (mode != "wal")
    return refused(fmt::format("{}: the file system has no shared memory for SQLite's WAL (journal mode {})",
                               connection.path(), mode));
  // journal_size_limit: after an unusually big transaction the WAL's file goes back to 16 MiB.
  for (const char* const pragma : {"synchronous = FULL", "wal_autocheckpoint = 0", "journal_size_limit = 16777216",
                                   "cache_size = -16384", "temp_store = MEMORY", "trusted_schema = OFF"})
    TRY(connection.single(fmt::format("PRAGMA {}", pragma)));
  return {};
}

// A file that came with a copied folder must not serve under another id: its partitions say who leads them.
EngineResult<void> bind_node(Connection& connection, protocol::BrokerId node_id) {
  bool bound = false;
  {
    Cursor row = connection.begin(index_of(Statement::select_bound_node));
    ASSIGN_OR_RETURN(const bool there, row.next());
    bound = there && !row.is_null(0);
    if (bound && row.number(0) != node_id.value())
      return refused(fmt::format("{}: belongs to node.id {}, not {}: set node.id={}, or use other log.dirs",
                                 connection.path(), row.number(0), node_id.value(), row.number(0)));
  }
  return bound ? EngineResult<void>() : connection.run(index_of(Statement::update_bound_node), node_id);
}

// All of it in one transaction that reads.
EngineResult<void> copy_database(Connection& connection, const std::string& copy) {
  const std::string_view texts[] = {"VACUUM INTO ?1"};
  TRY(connection.prepare(texts));
  return connection.run(0, copy);
}

// Keeps a copy of a file whose schema is about to be changed, for the way back to the release that wrote it.
EngineResult<void> keep_old_schema(const SqliteOptions& options) {
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  if (!files->exists(options.path).value_or(false)) return {};
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                   Connection::open({.path = options.path, .vfs = {}, .read_only = true}));
  ASSIGN_OR_RETURN(const std::string tables,
                   connection->single("SELECT count(*) FROM sqlite_master WHERE name = 'thalweg_schema'"));
  if (tables != "1") return {};
  ASSIGN_OR_RETURN(const std::string schema, connection->single(std::string(sql::kSelectSchema)));
  std::size_t found = 0;
  std::from_chars(schema.data(), schema.data() + schema.size(), found);
  if (found == 0 || found >= sql::migration_count()) return {};
  const std::string copy = fmt::format("{}.schema-{}", options.path, found);
  const std::string unfinished = copy + ".new";
  const auto say = [](runtime::IoResult<void> done) -> EngineResult<void> {
    if (!done) return refused(done.error().message());
    return {};
  };
  TRY(say(files->remove(unfinished)));
  TRY(copy_database(*connection, unfinished));
  const auto file = files->open(unfinished, runtime::OpenMode::read_write);
  if (!file) return refused(file.error().message());
  TRY(say((*file)->sync()));
  TRY(say(files->rename(unfinished, copy)));
  return say(files->sync_directory(options.path.substr(0, options.path.rfind('/'))));
}

EngineResult<std::unique_ptr<Engine>> open_engine(const SqliteOptions& options) {
  // A simulated file layer has no older files.
  if (options.vfs.empty()) TRY(keep_old_schema(options));
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   Connection::open({.path = options.path, .vfs = options.vfs}));
  TRY(configure(*connection));
  std::vector<std::string> migrations;
  for (std::size_t number = 1; number <= sql::migration_count(); ++number)
    migrations.push_back(sql::migration(number, sql::kSqlite));
  // All in one transaction: a fault on the way closes the connection, and the file is as it was.
  TRY(connection->execute("BEGIN IMMEDIATE"));
  TRY(sqlite::migrate(*connection, migrations));
  TRY(connection->prepare(sql::statement_texts()));
  TRY(bind_node(*connection, options.node_id));
  TRY(connection->execute("COMMIT"));
  return std::make_unique<SqliteEngine>(std::move(connection), options);
}

constexpr std::size_t kMostFaults = 100;

EngineResult<std::vector<std::string>> check_integrity(Connection& connection) {
  const std::string pragma = fmt::format("PRAGMA integrity_check({})", kMostFaults);
  const std::string_view texts[] = {pragma};
  TRY(connection.prepare(texts));
  std::vector<std::string> faults;
  Cursor row = connection.begin(0);
  for (;;) {
    ASSIGN_OR_RETURN(const bool there, row.next());
    if (!there) return faults;
    if (row.text(0) != "ok") faults.emplace_back(row.text(0));
  }
}

EngineResult<void> read_everything(const std::string& path, SqliteExamination& examination,
                                   const GroupPageVisitor& visit) {
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                     Connection::open({.path = path, .vfs = {}, .read_only = true}));
    ASSIGN_OR_RETURN(examination.faults, check_integrity(*connection));
    ASSIGN_OR_RETURN(const std::string schema, connection->single(std::string(sql::kSelectSchema)));
    std::from_chars(schema.data(), schema.data() + schema.size(), examination.schema);
  }
  if (examination.schema < static_cast<std::int64_t>(sql::migration_count())) return {};
  if (examination.schema > static_cast<std::int64_t>(sql::migration_count()))
    return refused(fmt::format("written by a newer release (schema {}), this one reads schemas up to {}",
                               examination.schema, sql::migration_count()));
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                   Connection::open({.path = path, .vfs = {}, .read_only = true}));
  TRY(connection->prepare(sql::statement_texts()));
  SqliteEngine engine(std::move(connection), {.path = path}, SqliteEngine::Use::reading);
  ASSIGN_OR_RETURN(Engine::Loaded loaded, engine.load());
  examination.snapshot = std::make_shared<const Snapshot>(std::move(loaded.snapshot));
  GroupRange range;
  do {
    ASSIGN_OR_RETURN(const GroupPage page, engine.load_groups(range));
    visit(page);
    range.first = page.next;
  } while (!range.first.empty());
  return {};
}

}  // namespace

base::Result<void, StoreError> copy_sqlite_file(const std::string& path, const std::string& copy,
                                                const std::string& vfs) {
  auto connection = Connection::open({.path = path, .vfs = vfs});
  if (!connection) return std::unexpected(StoreError{std::move(connection).error().message});
  // The store checkpoints by itself.
  (*connection)->move_wal_on_close(false);
  sqlite3_busy_timeout((*connection)->handle(), 5'000);
  if (auto copied = copy_database(**connection, copy); !copied)
    return std::unexpected(StoreError{std::move(copied).error().message});
  return {};
}

SqliteExamination examine_sqlite_file(const std::string& path, const GroupPageVisitor& visit) {
  SqliteExamination examination;
  if (auto read = read_everything(path, examination, visit); !read) {
    std::string words = std::move(read).error().message;
    // Where it stands is said by whoever shows the fault.
    if (words.starts_with(path + ": ")) words.erase(0, path.size() + 2);
    examination.faults.push_back(std::move(words));
  }
  return examination;
}

base::Result<std::unique_ptr<Store>, StoreError> open_sqlite_store(const SqliteOptions& options,
                                                                   const StoreEnvironment& environment) {
  auto engine = open_engine(options);
  if (!engine.has_value()) return std::unexpected(StoreError{std::move(engine).error().message});
  return Writer::open(std::move(*engine), environment, options.cluster_id);
}

}  // namespace thalweg::metadata
