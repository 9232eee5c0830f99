#include "inspect/otlp_nodes.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "base/varint.h"
#include "inspect/value_text.h"
#include "telemetry/otlp.h"

namespace thalweg::inspect {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

namespace {

// How protobuf writes what follows a tag.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, sized = 2, group = 3, end_group = 4, fixed32 = 5 };

// As deep as protobuf's parser follows messages inside messages.
constexpr int kDepthMax = 100;
constexpr std::size_t kTagBytesMax = 5;
// A length beyond this is refused before anything is compared with it.
constexpr std::uint64_t kLengthMax = 0x7fffffff - 16;

WireType wire_type_of(FieldDescriptor::Type type) {
  switch (type) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return WireType::fixed64;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return WireType::fixed32;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
      return WireType::sized;
    default:
      return WireType::varint;
  }
}

class OtlpWalker {
 public:
  OtlpWalker(const base::Bytes& bytes, const WalkOptions& options) : bytes_(bytes), options_(options) {}

  Walk walk(const Descriptor& message);

 private:
  Node begin(std::string_view name, std::string_view type) {
    Node n;
    n.name = name;
    n.type = type;
    n.offset = at_;
    n.part = Part::message_body;
    return n;
  }
  // Keeps a node that is whole, or lets it go where there are too many.
  void keep(Node& into, Node node);
  void fields(Node& into, const Descriptor* message, std::size_t end, int depth);
  // One field of a message; without a descriptor, or one that fits what stands there, an unknown one.
  void field(Node& node, const Descriptor* message, std::size_t end, int depth, std::map<int, int>& seen);
  void sized(Node& node, const FieldDescriptor* known, std::size_t begin, std::size_t end, int depth);
  void packed(Node& node, const FieldDescriptor& known, std::size_t end);
  // A value that is no string, no bytes and no message.
  void value(Node& node, const FieldDescriptor* known, WireType wire, std::size_t end);
  void group(Node& node, std::uint32_t number, std::size_t end, int depth);
  void set_number(Node& node, const FieldDescriptor& known, std::uint64_t raw) const;

  // A varint of at most `bytes_max` bytes; false, with the fault, where it is cut off or does not end.
  bool uvarint(std::uint64_t& out, std::size_t end, std::size_t bytes_max, std::string_view what);
  void fail(std::size_t offset, std::string reason) {
    if (!fault_) fault_ = Fault{.path = {}, .type = {}, .offset = offset, .reason = std::move(reason)};
  }
  [[nodiscard]] bool ok() const { return !fault_.has_value(); }

  const base::Bytes& bytes_;
  const WalkOptions& options_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
  std::optional<Fault> fault_;
};

bool OtlpWalker::uvarint(std::uint64_t& out, std::size_t end, std::size_t bytes_max, std::string_view what) {
  out = 0;
  for (std::size_t i = 0; i < bytes_max; ++i) {
    if (at_ + i >= end) {
      fail(at_ + i, fmt::format("{} is cut off", what));
      return false;
    }
    const std::uint8_t byte = bytes_[at_ + i];
    out |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) {
      at_ += i + 1;
      return true;
    }
  }
  fail(at_, fmt::format("{} of more than {} bytes", what, bytes_max));
  return false;
}

void OtlpWalker::keep(Node& into, Node node) {
  if (nodes_ < options_.max_nodes || !ok()) {
    ++nodes_;
    into.children.push_back(std::move(node));
    return;
  }
  if (!into.children.empty() && into.children.back().name == "more") {
    into.children.back().size += node.size;
  } else {
    Node more = begin("more", "bytes");
    more.offset = node.offset;
    more.size = node.size;
    into.children.push_back(std::move(more));
  }
  into.children.back().value = fmt::format("{} not shown", counted(into.children.back().size, "byte"));
}

void OtlpWalker::set_number(Node& node, const FieldDescriptor& known, std::uint64_t raw) const {
  switch (known.type()) {
    case FieldDescriptor::TYPE_DOUBLE:
      node.value = float_text(std::bit_cast<double>(raw));
      break;
    case FieldDescriptor::TYPE_SINT32:
      node.value = fmt::format("{}", base::zigzag_decode32(static_cast<std::uint32_t>(raw)));
      break;
    case FieldDescriptor::TYPE_INT32:
      node.value = fmt::format("{}", static_cast<std::int32_t>(raw));
      break;
    case FieldDescriptor::TYPE_UINT32:
      node.value = fmt::format("{}", static_cast<std::uint32_t>(raw));
      break;
    case FieldDescriptor::TYPE_INT64:
    case FieldDescriptor::TYPE_SFIXED64:
      node.value = fmt::format("{}", static_cast<std::int64_t>(raw));
      break;
    case FieldDescriptor::TYPE_BOOL:
      node.value = raw != 0 ? "true" : "false";
      break;
    case FieldDescriptor::TYPE_ENUM: {
      const auto number = static_cast<std::int32_t>(raw);
      node.value = fmt::format("{}", number);
      const auto* name = known.enum_type()->FindValueByNumber(number);
      if (name != nullptr) node.encoding += ", " + name->name();
      break;
    }
    default:
      node.value = fmt::format("{}", raw);
  }
  constexpr std::int64_t kNanosInMilli = 1'000'000;
  if (known.name().ends_with("time_unix_nano"))
    if (const std::string time = time_text(static_cast<std::int64_t>(raw) / kNanosInMilli); !time.empty())
      node.encoding += ", " + time;
}

void OtlpWalker::value(Node& node, const FieldDescriptor* known, WireType wire, std::size_t end) {
  const std::size_t from = at_;
  std::uint64_t raw = 0;
  if (wire == WireType::varint) {
    if (!uvarint(raw, end, base::kMaxVarint64Bytes, "a number")) return;
  } else {
    const std::size_t width = wire == WireType::fixed64 ? 8 : 4;
    if (end - at_ < width) return fail(at_, fmt::format("a number of {} bytes, {} are left", width, end - at_));
    for (std::size_t i = 0; i < width; ++i) raw |= std::uint64_t{bytes_[at_ + i]} << (8 * i);
    at_ += width;
  }
  node.content_size = at_ - from;
  if (known != nullptr) {
    set_number(node, *known, raw);
  } else {
    node.value = fmt::format("{}", raw);
  }
}

void OtlpWalker::packed(Node& node, const FieldDescriptor& known, std::size_t end) {
  node.kind = NodeKind::array;
  std::size_t count = 0;
  for (; at_ < end && ok(); ++count) {
    Node element = begin(fmt::format("[{}]", count), known.type_name());
    element.kind = NodeKind::scalar;
    value(element, &known, wire_type_of(known.type()), end);
    element.size = at_ - element.offset;
    keep(node, std::move(element));
  }
  node.value = counted(count, "element");
}

void OtlpWalker::sized(Node& node, const FieldDescriptor* known, std::size_t begin_tag, std::size_t end, int depth) {
  std::uint64_t length = 0;
  const std::size_t at_length = at_;
  if (!uvarint(length, end, kTagBytesMax, "a length")) return;
  length &= UINT32_MAX;
  if (length > kLengthMax || length > end - at_)
    return fail(at_length, fmt::format("a length of {}, {} left", length, counted(end - at_, "byte")));
  const std::size_t content_end = at_ + length;
  const bool message = known != nullptr && known->type() == FieldDescriptor::TYPE_MESSAGE;
  const bool array = known != nullptr && wire_type_of(known->type()) != WireType::sized;
  node.content_size = length;
  if (message || array) {
    Node prefix = begin("length", "uvarint");
    prefix.kind = NodeKind::length;
    prefix.value = fmt::format("{}", length);
    prefix.encoding = node.encoding;
    prefix.offset = begin_tag;
    prefix.size = at_ - begin_tag;
    prefix.content_size = at_ - at_length;
    prefix.about = "tag and length: bytes that follow";
    node.encoding.clear();
    ++nodes_;
    node.children.push_back(std::move(prefix));
    if (array) return packed(node, *known, content_end);
    node.kind = NodeKind::structure;
    if (depth == 0) return fail(at_, fmt::format("messages more than {} deep", kDepthMax));
    return fields(node, known->message_type(), content_end, depth - 1);
  }
  const base::Bytes content = bytes_.slice(at_, length);
  node.encoding += fmt::format(", len={}", length);
  if (known != nullptr && known->type() == FieldDescriptor::TYPE_STRING) {
    if (!is_utf8(content.view())) return fail(at_, "text that is not UTF-8");
    node.value = quoted(content.view(), options_.text_limit);
  } else {
    node.value = bytes_text(content.span(), options_.bytes_limit);
  }
  at_ = content_end;
}

// Fields up to the end of their group. Nothing of OTLP is one, but what is unknown may be.
void OtlpWalker::group(Node& node, std::uint32_t number, std::size_t end, int depth) {
  if (depth == 0) return fail(at_, fmt::format("messages more than {} deep", kDepthMax));
  node.kind = NodeKind::scalar;
  while (ok()) {
    std::uint64_t tag = 0;
    Node inner;
    const std::size_t at_tag = at_;
    if (!uvarint(tag, end, kTagBytesMax, "a tag")) return;
    tag &= UINT32_MAX;
    const auto wire = static_cast<WireType>(tag & 7);
    if (tag >> 3 == 0) return fail(at_tag, "a field with the number 0");
    if (wire == WireType::end_group) {
      if (tag >> 3 != number) return fail(at_tag, fmt::format("the end of a group {} in a group {}", tag >> 3, number));
      return;
    }
    if (wire == WireType::sized) {
      sized(inner, nullptr, at_tag, end, depth);
    } else if (wire == WireType::group) {
      group(inner, static_cast<std::uint32_t>(tag >> 3), end, depth - 1);
    } else if (wire == WireType::varint || wire == WireType::fixed32 || wire == WireType::fixed64) {
      value(inner, nullptr, wire, end);
    } else {
      return fail(at_tag, fmt::format("wire type {}", tag & 7));
    }
  }
}

void OtlpWalker::field(Node& node, const Descriptor* message, std::size_t end, int depth, std::map<int, int>& seen) {
  std::uint64_t tag = 0;
  const std::size_t at_tag = at_;
  if (!uvarint(tag, end, kTagBytesMax, "a tag")) return;
  tag &= UINT32_MAX;
  const auto number = static_cast<int>(tag >> 3);
  const auto wire = static_cast<WireType>(tag & 7);
  if (number == 0) return fail(at_tag, "a field with the number 0");
  if (wire == WireType::end_group) return fail(at_tag, "the end of a group that has not begun");
  const FieldDescriptor* known = message->FindFieldByNumber(number);
  if (known != nullptr && wire != wire_type_of(known->type()) && !(known->is_packable() && wire == WireType::sized))
    known = nullptr;
  node.kind = NodeKind::scalar;
  node.encoding = fmt::format("field {}", number);
  if (known != nullptr) {
    node.name = known->name();
    if (known->is_repeated() && !(known->is_packable() && wire == WireType::sized))
      node.name += fmt::format("[{}]", seen[number]++);
    node.type = known->type() == FieldDescriptor::TYPE_MESSAGE ? known->message_type()->name()
                : known->type() == FieldDescriptor::TYPE_ENUM  ? known->enum_type()->name()
                                                               : known->type_name();
    if (known->is_packable() && wire == WireType::sized) node.type = "[]" + node.type;
  } else {
    node.name = "unknown";
    node.type = wire == WireType::sized ? "bytes" : "number";
  }
  if (wire == WireType::sized) {
    sized(node, known, at_tag, end, depth);
  } else if (wire == WireType::group) {
    node.type = "group";
    group(node, static_cast<std::uint32_t>(number), end, depth - 1);
    node.value = counted(at_ - at_tag, "byte");
  } else if (wire == WireType::varint || wire == WireType::fixed32 || wire == WireType::fixed64) {
    value(node, known, wire, end);
  } else {
    fail(at_tag, fmt::format("wire type {}", tag & 7));
  }
}

void OtlpWalker::fields(Node& into, const Descriptor* message, std::size_t end, int depth) {
  std::map<int, int> seen;
  while (at_ < end && ok()) {
    Node node = begin("field", "tag");
    field(node, message, end, depth, seen);
    node.size = at_ - node.offset;
    keep(into, std::move(node));
  }
}

Walk OtlpWalker::walk(const Descriptor& message) {
  Walk result;
  result.root = begin(message.name(), "message");
  result.root.kind = NodeKind::structure;
  result.root.about = "metrics of OTLP";
  fields(result.root, &message, bytes_.size(), kDepthMax);
  result.root.size = at_;
  if (ok()) return result;
  result.rest = bytes_.size() - at_;
  // The field at fault is the last one that was begun.
  const Node* at = &result.root;
  while (!at->children.empty()) {
    at = &at->children.back();
    if (at->kind == NodeKind::length) break;
    if (!at->name.starts_with('[') && !fault_->path.empty()) fault_->path += '.';
    fault_->path += at->name;
  }
  fault_->type = at->type;
  result.fault = std::move(fault_);
  return result;
}

}  // namespace

Walk walk_metrics(const base::Bytes& bytes, const WalkOptions& options) {
  return OtlpWalker(bytes, options).walk(*telemetry::MetricsData::descriptor());
}

std::vector<Node> open_telemetry(std::span<const std::uint8_t> metrics) {
  Walk read = walk_metrics(base::Bytes::unowned(metrics));
  if (read.fault)
    read.root.about = fmt::format("damaged: {} at {}: {}", read.fault->path, read.fault->offset, read.fault->reason);
  std::vector<Node> nodes;
  nodes.push_back(std::move(read.root));
  return nodes;
}

}  // namespace thalweg::inspect
