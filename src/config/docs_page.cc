#include "config/docs_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/table.h"

namespace thalweg::config {
namespace {

// A `|` would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string default_cell(const ConfigKey& key) {
  if (!key.default_value) return "null";
  return key.default_value->empty() ? "empty" : fmt::format("`{}`", cell(*key.default_value));
}

std::string meaning_cell(const ConfigKey& key) {
  std::string text(key.doc);
  if (!key.broker_synonym.empty()) text += fmt::format(" Falls back to `{}`.", key.broker_synonym);
  if (key.cls == KeyClass::refused) text += fmt::format(" Another value is refused: {}.", key.reason);
  return cell(text);
}

void append_section(std::string& page, const Section& section) {
  fmt::format_to(std::back_inserter(page),
                 "\n## {}\n\n| Key | Type | Default | Allowed | Changes | Class | Meaning |\n"
                 "| --- | --- | --- | --- | --- | --- | --- |\n",
                 section.title);
  for (const ConfigKey& key : section.keys)
    fmt::format_to(std::back_inserter(page), "| `{}` | {} | {} | {} | {} | {} | {} |\n", key.name, type_name(key.type),
                   default_cell(key), cell(allowed_text(key)), dynamic_name(key.dynamic), class_name(key.cls),
                   meaning_cell(key));
}

}  // namespace

std::string configuration_page() {
  std::string page = R"(# Configuration

`thalweg serve --config server.properties -o key=value` reads Kafka's own file syntax and Kafka's own keys; keys that
begin with `thalweg.`, and `log.flush.acks`, are Thalweg's. `-o` wins over the file, the later of two over the earlier.

- **Class**: a *used* key does what it says. An *accepted* key is taken without effect, so that a file written for Kafka
  works; one line at start names them. A *refused* key stops the start when its value is not the default, because
  ignoring it would mislead. An unknown key is a warning that names the nearest known one.
- **Changes**: whether a key can be changed at run time, by IncrementalAlterConfigs or `kafka-configs`. *Read-only* keys
  change with a restart, *cluster-wide* ones while brokers run, for one broker or as the default of all, *per-broker* ones
  for one broker, *per-listener* ones for one listener of one broker. *Per-resource* keys belong to a topic, a group or a
  client metrics subscription, and change while brokers run. What is set at run time wins over file and command line.
- `listener.name.NAME.KEY` sets a key for one listener, `listener.name.NAME.MECHANISM.KEY` for one SASL mechanism on it.
- `${env:NAME}`, `${file:/path:key}` and `${dir:/path:file}` stand for a value that is kept elsewhere.
- A blank after a comma in a list is ignored, `null` means that the key has no value unless it is set.
)";
  for (const Table* table : {&broker_table(), &topic_table(), &group_table(), &client_metrics_table()})
    for (const Section& section : table->sections()) append_section(page, section);
  return page;
}

}  // namespace thalweg::config
