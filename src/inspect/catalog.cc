#include "inspect/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/check.h"

namespace thalweg::inspect {

using schema::Message;
using schema::MessageType;

namespace {

// ApiVersions answers with the oldest header in every version: who asks does not know yet what the broker can read.
constexpr int kApiVersions = 18;

std::string without(std::string_view name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return std::string(name);
}

// The topic or file that holds a record. What the schemas do not say follows from where they stand and what they are
// called: Share... alone are the share coordinator's, ShareGroup... the group coordinator's.
std::string home_of(const MessageEntry& entry) {
  const std::string_view path = entry.file.path;
  const std::string_view name = entry.message.name;
  if (path.starts_with("metadata/")) return "__cluster_metadata";
  if (path.starts_with("storage/") && entry.message.type == MessageType::metadata) return "__remote_log_metadata";
  if (path.starts_with("coordinator/")) {
    if (name.starts_with("Transaction")) return "__transaction_state";
    if (name.starts_with("Share") && !name.starts_with("ShareGroup")) return "__share_group_state";
    return "__consumer_offsets";
  }
  return {};
}

}  // namespace

std::optional<std::string> version_fault(const MessageEntry& entry, int version) {
  const schema::VersionRange versions = entry.message.versions;
  if (versions.contains(version)) return std::nullopt;
  if (versions.empty()) return fmt::format("{} was removed from the protocol: it has no versions", entry.message.name);
  if (versions.lowest == versions.highest)
    return fmt::format("{} has no version {}: its only version is {}", entry.message.name, version, versions.lowest);
  return fmt::format("{} has no version {}: its versions are {}", entry.message.name, version, versions.str());
}

std::string fold(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
    if (c >= 'A' && c <= 'Z') result += static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::size_t distance(std::string_view a, std::string_view b) {
  // Rows of the usual table: the one before last, the last, and the one being filled.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

const Catalog& Catalog::built_in() {
  static const Catalog catalog = [] {
    auto parsed = parse(schema_files());
    CHECK(parsed.has_value(), parsed.error());
    return std::move(*parsed);
  }();
  return catalog;
}

base::Result<Catalog, std::string> Catalog::parse(std::span<const SchemaFile> files) {
  Catalog catalog;
  for (const SchemaFile& file : files) {
    auto message = schema::parse_message(file.text);
    if (!message) return std::unexpected(fmt::format("{}: {}", file.path, message.error()));
    catalog.entries_.push_back({.file = file, .message = std::move(*message)});
  }
  std::ranges::sort(catalog.entries_, {}, [](const MessageEntry& entry) { return entry.message.name; });
  catalog.make_subjects();
  catalog.index();
  return catalog;
}

void Catalog::make_subjects() {
  std::map<int, Subject> apis;
  std::map<std::string, Subject> others;
  // Whether the newest version of an API is unstable.
  std::map<int, bool> unstable;
  for (const MessageEntry& entry : entries_) {
    const Message& message = entry.message;
    const int key = message.api_key.value_or(-1);
    switch (message.type) {
      case MessageType::request:
        apis[key].first = &entry;
        apis[key].name = without(message.name, "Request");
        unstable[key] |= message.latest_version_unstable;
        break;
      case MessageType::response:
        apis[key].second = &entry;
        unstable[key] |= message.latest_version_unstable;
        break;
      case MessageType::coordinator_key:
      case MessageType::coordinator_value: {
        const bool is_key = message.type == MessageType::coordinator_key;
        const std::string name = without(message.name, is_key ? "Key" : "Value");
        Subject& subject = others[name];
        subject.name = name;
        subject.family = Family::coordinator_record;
        subject.key = message.api_key;
        subject.home = home_of(entry);
        (is_key ? subject.first : subject.second) = &entry;
        break;
      }
      default:
        others[message.name] = {
            .name = message.name,
            .family = message.type == MessageType::metadata ? Family::metadata_record : Family::data,
            .key = message.api_key,
            .first = &entry,
            .home = home_of(entry)};
        break;
    }
  }
  for (auto& [key, subject] : apis) {
    subject.family = Family::api;
    subject.key = key;
    subjects_.push_back(std::move(subject));
  }
  for (auto& [name, subject] : others) subjects_.push_back(std::move(subject));
  for (MessageEntry& entry : entries_) {
    const Message& message = entry.message;
    const bool is_api = message.type == MessageType::request || message.type == MessageType::response;
    if (message.versions.empty()) continue;
    entry.newest_stable = message.versions.highest - (is_api && unstable[message.api_key.value_or(-1)] ? 1 : 0);
  }
}

void Catalog::index() {
  // APIs come first, and a name that is taken stays what it was: OffsetCommit is the API, OffsetCommitRecord the
  // record.
  for (const Subject& subject : subjects_) {
    const auto add = [&](std::string_view name, Side side) { names_.try_emplace(fold(name), &subject, side); };
    add(subject.name, Side::both);
    if (subject.first != nullptr)
      add(subject.first->message.name, subject.second == nullptr ? Side::both : Side::first);
    if (subject.second != nullptr) add(subject.second->message.name, Side::second);
  }
  for (const Subject& subject : subjects_) {
    const auto add = [&](std::string_view name) { names_.try_emplace(fold(name), &subject, Side::both); };
    if (subject.family == Family::coordinator_record) add(subject.name + "Record");
    if (subject.family == Family::metadata_record) add(without(subject.name, "Record"));
  }
}

const MessageEntry* Catalog::find(std::string_view name) const {
  const auto it = std::ranges::lower_bound(
      entries_, name, {}, [](const MessageEntry& entry) -> std::string_view { return entry.message.name; });
  return it != entries_.end() && it->message.name == name ? &*it : nullptr;
}

std::string Catalog::suggestion(const std::string& folded) const {
  // More than a third of the letters wrong is another word.
  const std::size_t farthest = std::max<std::size_t>(1, folded.size() / 3);
  std::size_t nearest = farthest + 1;
  std::string best;
  const auto consider = [&](const std::string& name) {
    const std::size_t here = distance(folded, fold(name));
    if (here < nearest) {
      nearest = here;
      best = name;
    }
  };
  for (const Subject& subject : subjects_) {
    consider(subject.name);
    if (subject.first != nullptr) consider(subject.first->message.name);
    if (subject.second != nullptr) consider(subject.second->message.name);
  }
  if (nearest <= 2 && !best.empty()) return best;
  // A part of a name, as long as it says something.
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kMost = 6;
  std::vector<std::string_view> holding;
  for (const Subject& subject : subjects_)
    if (folded.size() >= kLeast && fold(subject.name).contains(folded)) holding.push_back(subject.name);
  if (!holding.empty() && holding.size() <= kMost) return fmt::format("{}", fmt::join(holding, ", "));
  return best;
}

base::Result<Match, std::string> Catalog::look_up(std::string_view words) const {
  int key = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), key);
  if (error == std::errc() && end == words.data() + words.size()) {
    for (const Subject& subject : subjects_)
      if (subject.family == Family::api && subject.key == key) return Match{&subject, Side::both};
    return std::unexpected(fmt::format("no API has the key {}", key));
  }
  const std::string folded = fold(words);
  if (const auto it = names_.find(folded); it != names_.end()) return it->second;
  const std::string other = suggestion(folded);
  return std::unexpected(other.empty() ? fmt::format("no message is called {}", words)
                                       : fmt::format("no message is called {}; did you mean {}?", words, other));
}

Envelope Catalog::envelope(const MessageEntry& entry, int version) const {
  const Message& message = entry.message;
  Envelope envelope{.message = &message, .version = version};
  const bool flexible = message.flexible.contains(version);
  switch (message.type) {
    case MessageType::request:
      envelope.framing = Framing::framed;
      envelope.header = &find("RequestHeader")->message;
      envelope.header_version = flexible ? 2 : 1;
      break;
    case MessageType::response:
      envelope.framing = Framing::framed;
      envelope.header = &find("ResponseHeader")->message;
      envelope.header_version = flexible && message.api_key != kApiVersions ? 1 : 0;
      break;
    case MessageType::coordinator_key:
      envelope.framing = Framing::record_key;
      break;
    case MessageType::coordinator_value:
      envelope.framing = Framing::record_value;
      break;
    case MessageType::metadata:
      envelope.framing = Framing::metadata_record;
      break;
    default:
      break;
  }
  return envelope;
}

}  // namespace thalweg::inspect
