#include "metadata/memory_store.h"

#include <compare>
#include <utility>

#include "metadata/persistent_map.h"
#include "metadata/writer.h"

namespace thalweg::metadata {

namespace {

struct OffsetKey {
  std::string group_id;
  base::Uuid topic_id;
  std::int32_t partition = 0;
  friend auto operator<=>(const OffsetKey&, const OffsetKey&) = default;
};

}  // namespace

// Persistent maps throughout, so a transaction is a copy that takes the place of the original or does not.
struct MemoryDatabase::Contents {
  Snapshot snapshot;
  Revision newest;
  Revision trimmed;  // changes up to here are no longer kept
  PersistentMap<Revision, std::shared_ptr<const AppliedChange>> changes;
  PersistentMap<std::string, std::shared_ptr<const StoredGroup>> groups;
  PersistentMap<OffsetKey, std::shared_ptr<const records::OffsetCommitted>> offsets;

  void forget_offsets_of(const base::Uuid& topic_id) {
    std::vector<OffsetKey> gone;
    for (const auto& [key, offset] : offsets)
      if (key.topic_id == topic_id) gone.push_back(key);
    for (const OffsetKey& key : gone) offsets.erase(key);
  }
  void forget_group(const std::string& group_id) {
    groups.erase(group_id);
    const OffsetKey first{.group_id = group_id, .topic_id = {}, .partition = 0};
    for (auto at = offsets.lower_bound(first); at != offsets.end() && at->first.group_id == group_id;
         at = offsets.lower_bound(first)) {
      const OffsetKey key = at->first;
      offsets.erase(key);
    }
  }
  void write(Revision revision, const records::Record& record, const Snapshot& after) {
    std::visit(records::Overloaded{
                   [&](const records::OffsetCommitted& r) {
                     if (after.topic(r.topic_id) == nullptr) return;
                     offsets.set({.group_id = r.group_id, .topic_id = r.topic_id, .partition = r.partition},
                                 std::make_shared<const records::OffsetCommitted>(r));
                   },
                   [&](const records::OffsetDeleted& r) {
                     offsets.erase(OffsetKey{.group_id = r.group_id, .topic_id = r.topic_id, .partition = r.partition});
                   },
                   [&](const records::GroupChanged& r) {
                     groups.set(r.group_id,
                                std::make_shared<const StoredGroup>(StoredGroup{.state = r, .version = revision}));
                   },
                   [&](const records::GroupDeleted& r) { forget_group(r.group_id); },
                   [&](const records::TopicDeleted& r) { forget_offsets_of(r.topic_id); },
                   [](const auto& /*only the snapshot*/) {},
               },
               record);
  }
};

MemoryDatabase::MemoryDatabase() : contents_(std::make_unique<Contents>()) {}
MemoryDatabase::~MemoryDatabase() = default;

void MemoryDatabase::fail_next_commit(EngineFault fault) { next_fault_ = std::move(fault); }

class MemoryEngine final : public Engine {
 public:
  explicit MemoryEngine(std::shared_ptr<MemoryDatabase> database) : database_(std::move(database)) {}

  EngineResult<Loaded> load() override {
    const MemoryDatabase::Contents& contents = transaction_ ? *transaction_ : *database_->contents_;
    Loaded loaded{.snapshot = contents.snapshot, .newest = contents.newest};
    loaded.snapshot.advance_to(contents.newest);
    return loaded;
  }
  EngineResult<Revision> begin() override {
    transaction_.emplace(*database_->contents_);
    return transaction_->newest;
  }
  EngineResult<std::optional<std::vector<AppliedChange>>> changes_since(Revision seen) override {
    if (seen < transaction_->trimmed) return std::nullopt;
    std::vector<AppliedChange> changes;
    for (auto at = transaction_->changes.lower_bound(next(seen)); at != transaction_->changes.end(); ++at)
      changes.push_back(*at->second);
    return changes;
  }
  EngineResult<Revision> group_version(const std::string& group_id) override {
    const auto* const group = transaction_->groups.find(group_id);
    return group == nullptr ? kNothing : (*group)->version;
  }
  EngineResult<void> write(const WriteSet& change) override {
    AppliedChange applied{.revision = change.revision, .records = {}};
    for (const records::Record& record : change.records) {
      transaction_->write(change.revision, record, change.after);
      if (!records::of_coordinator(record)) applied.records.push_back(record);
    }
    if (!applied.records.empty()) {
      transaction_->snapshot = change.after;
      transaction_->changes.set(change.revision, std::make_shared<const AppliedChange>(std::move(applied)));
    }
    return {};
  }
  EngineResult<void> trim_changes(std::int64_t keep) override {
    while (std::cmp_greater(transaction_->changes.size(), keep)) {
      transaction_->trimmed = transaction_->changes.begin()->first;
      transaction_->changes.erase(transaction_->trimmed);
    }
    return {};
  }
  EngineResult<void> commit(Revision newest) override {
    if (auto fault = std::exchange(database_->next_fault_, std::nullopt)) {
      rollback();
      return std::unexpected(std::move(*fault));
    }
    transaction_->newest = newest;
    *database_->contents_ = std::move(*transaction_);
    transaction_.reset();
    return {};
  }
  void rollback() override { transaction_.reset(); }
  EngineResult<GroupPage> load_groups(const GroupRange& range) override;
  EngineResult<std::optional<std::int64_t>> maintain(bool /*idle*/) override { return std::nullopt; }
  void close() override {}

 private:
  std::shared_ptr<MemoryDatabase> database_;
  std::optional<MemoryDatabase::Contents> transaction_;
};

// Groups and offsets side by side in the order of group ids.
EngineResult<GroupPage> MemoryEngine::load_groups(const GroupRange& range) {
  const MemoryDatabase::Contents& contents = *database_->contents_;
  GroupPage page;
  auto group = contents.groups.lower_bound(range.first);
  auto offset = contents.offsets.lower_bound(OffsetKey{.group_id = range.first, .topic_id = {}, .partition = 0});
  while (group != contents.groups.end() || offset != contents.offsets.end()) {
    const bool offsets_only =
        group == contents.groups.end() || (offset != contents.offsets.end() && offset->first.group_id < group->first);
    const std::string id = offsets_only ? offset->first.group_id : group->first;
    if (!range.end.empty() && id >= range.end) break;
    if (page.groups.size() + page.offsets.size() >= range.rows) {
      page.next = id;
      break;
    }
    if (!offsets_only) page.groups.push_back(*(group++)->second);
    for (; offset != contents.offsets.end() && offset->first.group_id == id; ++offset)
      page.offsets.push_back(*offset->second);
  }
  return page;
}

base::Result<std::unique_ptr<Store>, StoreError> open_memory_store(std::shared_ptr<MemoryDatabase> database,
                                                                   const StoreEnvironment& environment,
                                                                   const std::string& cluster_id) {
  return Writer::open(std::make_unique<MemoryEngine>(std::move(database)), environment, cluster_id);
}

}  // namespace thalweg::metadata
