#include "records/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/varint.h"

namespace thalweg::records {

namespace {

template <class R, class T>
concept Is = std::same_as<std::remove_const_t<R>, T>;

// The fields of each record in the order of its body: the one place that both directions read.
auto fields(Is<ClusterCreated> auto& r) { return std::tie(r.cluster_id); }
auto fields(Is<Endpoint> auto& r) { return std::tie(r.listener, r.host, r.port, r.security_protocol); }
auto fields(Is<NodeRegistered> auto& r) {
  return std::tie(r.node_id, r.incarnation, r.directories, r.endpoints, r.rack);
}
auto fields(Is<NodeStarted> auto& r) { return std::tie(r.node_id, r.started_ms, r.unclean); }
auto fields(Is<PartitionPlacement> auto& r) { return std::tie(r.leader, r.directory); }
auto fields(Is<TopicCreated> auto& r) {
  return std::tie(r.name, r.topic_id, r.created_ms, r.replication_factor, r.partitions);
}
auto fields(Is<PartitionsAdded> auto& r) { return std::tie(r.topic_id, r.partitions); }
auto fields(Is<TopicDeleted> auto& r) { return std::tie(r.topic_id); }
auto fields(Is<PartitionChanged> auto& r) {
  return std::tie(r.topic_id, r.partition, r.leader, r.leader_epoch, r.directory);
}
auto fields(Is<ConfigResource> auto& r) { return std::tie(r.type, r.name); }
auto fields(Is<ConfigSet> auto& r) { return std::tie(r.resource, r.key, r.value); }
auto fields(Is<ConfigRemoved> auto& r) { return std::tie(r.resource, r.key); }
auto fields(Is<ProducerIdBlockAllocated> auto& r) { return std::tie(r.node_id, r.next_producer_id); }
auto fields(Is<LeaseChanged> auto& r) { return std::tie(r.name, r.owner, r.epoch, r.expires_ms); }
auto fields(Is<OffsetCommitted> auto& r) {
  return std::tie(r.group_id, r.topic_id, r.topic, r.partition, r.offset, r.leader_epoch, r.metadata, r.commit_ms,
                  r.expire_ms);
}
auto fields(Is<OffsetDeleted> auto& r) { return std::tie(r.group_id, r.topic_id, r.partition); }
auto fields(Is<GroupChanged> auto& r) { return std::tie(r.group_id, r.kind, r.state_version, r.state); }
auto fields(Is<GroupDeleted> auto& r) { return std::tie(r.group_id); }
auto fields(Is<Acl> auto& r) {
  return std::tie(r.resource_type, r.resource_name, r.pattern_type, r.principal, r.host, r.operation, r.permission);
}
auto fields(Is<AclAdded> auto& r) { return std::tie(r.acl); }
auto fields(Is<AclRemoved> auto& r) { return std::tie(r.acl); }
auto fields(Is<ScramKey> auto& r) { return std::tie(r.user, r.mechanism); }
auto fields(Is<ScramCredential> auto& r) { return std::tie(r.iterations, r.salt, r.stored_key, r.server_key); }
auto fields(Is<ScramCredentialSet> auto& r) { return std::tie(r.key, r.credential); }
auto fields(Is<ScramCredentialRemoved> auto& r) { return std::tie(r.key); }
auto fields(Is<DelegationToken> auto& r) {
  return std::tie(r.token_id, r.owner, r.requester, r.renewers, r.issued_ms, r.expires_ms, r.max_ms, r.key_check);
}
auto fields(Is<DelegationTokenCreated> auto& r) { return std::tie(r.token); }
auto fields(Is<DelegationTokenRenewed> auto& r) { return std::tie(r.token_id, r.expires_ms); }
auto fields(Is<DelegationTokenRemoved> auto& r) { return std::tie(r.token_id); }

struct Form {
  std::uint64_t tag;
  std::uint64_t version = 0;
};
template <class R>
constexpr Form kForm = {};
template <>
constexpr Form kForm<ClusterCreated> = {1};
template <>
constexpr Form kForm<NodeRegistered> = {2};
template <>
constexpr Form kForm<NodeStarted> = {3};
template <>
constexpr Form kForm<TopicCreated> = {4};
template <>
constexpr Form kForm<PartitionsAdded> = {5};
template <>
constexpr Form kForm<TopicDeleted> = {6};
template <>
constexpr Form kForm<PartitionChanged> = {7};
template <>
constexpr Form kForm<ConfigSet> = {8};
template <>
constexpr Form kForm<ConfigRemoved> = {9};
template <>
constexpr Form kForm<ProducerIdBlockAllocated> = {10};
template <>
constexpr Form kForm<LeaseChanged> = {11};
template <>
constexpr Form kForm<OffsetCommitted> = {12};
template <>
constexpr Form kForm<OffsetDeleted> = {13};
template <>
constexpr Form kForm<GroupChanged> = {14};
template <>
constexpr Form kForm<GroupDeleted> = {15};
template <>
constexpr Form kForm<AclAdded> = {16};
template <>
constexpr Form kForm<AclRemoved> = {17};
template <>
constexpr Form kForm<ScramCredentialSet> = {18};
template <>
constexpr Form kForm<ScramCredentialRemoved> = {19};
template <>
constexpr Form kForm<DelegationTokenCreated> = {20};
template <>
constexpr Form kForm<DelegationTokenRenewed> = {21};
template <>
constexpr Form kForm<DelegationTokenRemoved> = {22};

template <class T>
concept Compound = requires(T& value) { fields(value); };

using Placements = std::vector<PartitionPlacement>;

class Encoder {
 public:
  explicit Encoder(std::vector<std::uint8_t>& out) : out_(out) {}

  void number(std::uint64_t value) {
    std::uint8_t bytes[base::kMaxVarint64Bytes];
    out_.insert(out_.end(), bytes, base::put_uvarint(bytes, value));
  }
  void raw(const void* data, std::size_t size) {
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }

  void put(bool value) { out_.push_back(value ? 1 : 0); }
  template <std::signed_integral T>
  void put(T value) {
    number(base::zigzag_encode64(value));
  }
  template <std::unsigned_integral T>
  void put(T value) {
    number(value);
  }
  template <class T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(std::to_underlying(value));
  }
  template <class Tag, class Rep>
  void put(base::Strong<Tag, Rep> value) {
    put(value.value());
  }
  void put(const base::Uuid& value) { raw(value.bytes.data(), value.bytes.size()); }
  void put(const std::string& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void put(const base::Bytes& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    number(values.size());
    for (const T& value : values) put(value);
  }
  void put(const Placements& placements) {
    // Thousands of partitions live on a handful of brokers and directories.
    std::map<std::pair<std::int32_t, base::Uuid>, std::uint64_t> index;
    std::vector<const PartitionPlacement*> distinct;
    std::vector<std::uint64_t> indices;
    indices.reserve(placements.size());
    for (const PartitionPlacement& placement : placements) {
      const auto [found, added] = index.try_emplace({placement.leader.value(), placement.directory}, distinct.size());
      if (added) distinct.push_back(&placement);
      indices.push_back(found->second);
    }
    number(distinct.size());
    for (const PartitionPlacement* placement : distinct) put(*placement);
    number(indices.size());
    for (const std::uint64_t i : indices) number(i);
  }
  template <Compound T>
  void put(const T& value) {
    std::apply([this](const auto&... field) { (this->put(field), ...); }, fields(value));
  }

 private:
  std::vector<std::uint8_t>& out_;
};

// Reads fields from [p_, end_). After a fault everything else reads as nothing and the fault stays.
class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> in, std::size_t start)
      : begin_(in.data()), p_(in.data()), end_(in.data() + in.size()), start_(start) {}

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return {p_, left()}; }
  [[nodiscard]] std::size_t position() const { return start_ + static_cast<std::size_t>(p_ - begin_); }
  [[nodiscard]] bool failed() const { return fault_.has_value(); }
  DecodeFault fault() { return std::move(*fault_); }
  void fail(std::string what) {
    if (!fault_) fault_ = DecodeFault{.position = position(), .what = std::move(what)};
    p_ = end_;
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::uint8_t* const after = base::get_uvarint64(p_, end_, value);
    if (after == nullptr) {
      fail("a number is cut off or too long");
      return 0;
    }
    p_ = after;
    return value;
  }
  // A size in bytes, or a count of elements of at least one byte each: never more than what is left.
  std::size_t count() {
    const std::uint64_t value = number();
    if (value <= left()) return value;
    fail(fmt::format("{} are announced where {} bytes are left", value, left()));
    return 0;
  }
  std::span<const std::uint8_t> raw(std::size_t size) {
    if (size > left()) {
      fail(fmt::format("{} bytes are missing", size - left()));
      return {};
    }
    const std::span<const std::uint8_t> bytes(p_, size);
    p_ += size;
    return bytes;
  }

  void get(bool& value) {
    const auto byte = raw(1);
    if (byte.empty()) return;
    if (byte[0] > 1) return fail("a bool is neither 0 nor 1");
    value = byte[0] == 1;
  }
  template <std::signed_integral T>
  void get(T& value) {
    const std::int64_t wide = base::zigzag_decode64(number());
    if (!std::in_range<T>(wide)) return fail(fmt::format("{} is out of range", wide));
    value = static_cast<T>(wide);
  }
  template <std::unsigned_integral T>
  void get(T& value) {
    const std::uint64_t wide = number();
    if (!std::in_range<T>(wide)) return fail(fmt::format("{} is out of range", wide));
    value = static_cast<T>(wide);
  }
  void get(ResourceType& value) {
    named(value, {ResourceType::topic, ResourceType::broker, ResourceType::client_metrics, ResourceType::group});
  }
  void get(GroupKind& value) {
    named(value, {GroupKind::classic, GroupKind::consumer, GroupKind::share, GroupKind::streams});
  }
  void get(AclResourceType& value) { between(value, AclResourceType::topic, AclResourceType::user); }
  void get(AclPatternType& value) { between(value, AclPatternType::literal, AclPatternType::prefixed); }
  void get(AclOperation& value) { between(value, AclOperation::all, AclOperation::two_phase_commit); }
  void get(ScramMechanism& value) { between(value, ScramMechanism::sha_256, ScramMechanism::sha_512); }
  void get(AclPermission& value) { between(value, AclPermission::deny, AclPermission::allow); }
  template <class Tag, class Rep>
  void get(base::Strong<Tag, Rep>& value) {
    Rep rep{};
    get(rep);
    value = base::Strong<Tag, Rep>(rep);
  }
  void get(base::Uuid& value) {
    const auto bytes = raw(value.bytes.size());
    if (!bytes.empty()) std::memcpy(value.bytes.data(), bytes.data(), bytes.size());
  }
  void get(std::string& value) {
    const auto bytes = raw(count());
    value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void get(base::Bytes& value) { value = base::Bytes::copy_of(raw(count())); }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    if (there) get(value.emplace());
  }
  template <class T>
  void get(std::vector<T>& values) {
    const std::size_t n = count();
    values.clear();
    for (std::size_t i = 0; i < n && !failed(); ++i) get(values.emplace_back());
  }
  void get(Placements& placements) {
    const std::size_t kinds = count();
    Placements distinct;
    for (std::size_t i = 0; i < kinds && !failed(); ++i) get(static_cast<PartitionPlacement&>(distinct.emplace_back()));
    const std::size_t n = count();
    placements.clear();
    placements.reserve(n);
    for (std::size_t i = 0; i < n && !failed(); ++i) {
      const std::uint64_t index = number();
      if (index >= distinct.size()) return fail(fmt::format("placement {} of {}", index, distinct.size()));
      placements.push_back(distinct[index]);
    }
  }
  template <Compound T>
  void get(T& value) {
    std::apply([this](auto&... field) { (this->get(field), ...); }, fields(value));
  }
  // The body of a record: what it ends before keeps its default.
  template <Compound T>
  void get_body(T& value) {
    const auto get_if_there = [this](auto& field) {
      if (left() != 0) this->get(field);
    };
    std::apply([&](auto&... field) { (get_if_there(field), ...); }, fields(value));
  }

 private:
  template <class T>
  void named(T& value, std::initializer_list<T> known) {
    std::underlying_type_t<T> number{};
    get(number);
    if (failed()) return;
    value = static_cast<T>(number);
    if (std::ranges::find(known, value) == known.end()) fail(fmt::format("{} names nothing", number));
  }

  template <class T>
  void between(T& value, T lowest, T highest) {
    std::underlying_type_t<T> number{};
    get(number);
    if (failed()) return;
    value = static_cast<T>(number);
    if (value < lowest || value > highest) fail(fmt::format("{} names nothing", number));
  }

  const std::uint8_t* begin_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  std::size_t start_;
  std::optional<DecodeFault> fault_;
};

// Calls `with` with a default record of the type whose tag this is; false where there is none.
template <class With, std::size_t... I>
bool with_type_of(std::uint64_t tag, const With& with, std::index_sequence<I...> /*types*/) {
  return ((tag == kForm<std::variant_alternative_t<I, Record>>.tag &&
           (with(std::variant_alternative_t<I, Record>{}), true)) ||
          ...);
}

base::Result<Record, DecodeFault> decode_one(std::span<const std::uint8_t>& in, std::size_t start) {
  Decoder head(in, start);
  const std::uint64_t tag = head.number();
  const std::uint64_t version = head.number();
  const std::size_t size = head.count();
  if (head.failed()) return std::unexpected(head.fault());

  Decoder body(head.rest().first(size), head.position());
  Record record;
  const bool known = with_type_of(
      tag,
      [&]<class R>(R value) {
        if (version > kForm<R>.version) return body.fail(fmt::format("record {} has version {}", tag, version));
        body.get_body(value);
        record = std::move(value);
      },
      std::make_index_sequence<std::variant_size_v<Record>>());
  if (!known) body.fail(fmt::format("no record has the tag {}", tag));
  if (body.failed()) return std::unexpected(body.fault());
  in = head.rest().subspan(size);
  return record;
}

}  // namespace

void encode(const Record& record, std::vector<std::uint8_t>& out) {
  std::visit(
      [&out]<class R>(const R& value) {
        static_assert(kForm<R>.tag != 0, "every record has a tag");
        std::vector<std::uint8_t> body;
        Encoder(body).put(value);
        Encoder head(out);
        head.number(kForm<R>.tag);
        head.number(kForm<R>.version);
        head.number(body.size());
        head.raw(body.data(), body.size());
      },
      record);
}

std::vector<std::uint8_t> encode_all(std::span<const Record> records) {
  std::vector<std::uint8_t> out;
  for (const Record& record : records) encode(record, out);
  return out;
}

base::Result<Record, DecodeFault> decode(std::span<const std::uint8_t>& in) { return decode_one(in, 0); }

base::Result<std::vector<Record>, DecodeFault> decode_all(std::span<const std::uint8_t> in) {
  std::vector<Record> records;
  const std::size_t total = in.size();
  while (!in.empty()) {
    ASSIGN_OR_RETURN(Record record, decode_one(in, total - in.size()));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace thalweg::records
