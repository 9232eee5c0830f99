#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inspect/print.h"
#include "inspect/value_text.h"

namespace thalweg::inspect {

namespace {

// A class for each part, p0 to p7, in a light and in a dark scheme.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --faint: #6a737d; --line: #d8dee4; --box: #f6f8fa;
  --p0: #57606a; --p1: #0550ae; --p2: #116329; --p3: #8250df; --p4: #8a5a00; --p5: #0a6a75; --p6: #116329; --p7: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --text: #d6dde4; --faint: #8b949e; --line: #30363d;
  --box: #161b22; --p0: #9aa4ae; --p1: #79b8ff; --p2: #7ee787; --p3: #d2a8ff; --p4: #e3b341; --p5: #56d4dd; --p6: #7ee787;
  --p7: #ff8f86; } }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; max-width: 75rem;
  margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
table { border-collapse: collapse; } th { text-align: left; font-weight: 500; color: var(--faint); }
th, td { padding: .1rem 1rem .1rem 0; vertical-align: top; }
pre, .bytes, code { font: 13px/1.5 ui-monospace, "Liberation Mono", Menlo, monospace; }
pre { background: var(--box); padding: .8rem; overflow-x: auto; border-radius: 6px; }
.bytes td, .bytes th { padding: 0 .35rem; text-align: center; } .bytes { background: var(--box); border-radius: 6px; }
.key span { margin-right: 1.2rem; white-space: nowrap; } .faint { color: var(--faint); }
.p0 { color: var(--p0); } .p1 { color: var(--p1); } .p2 { color: var(--p2); } .p3 { color: var(--p3); }
.p4 { color: var(--p4); } .p5 { color: var(--p5); } .p6 { color: var(--p6); } .p7 { color: var(--p7); }
.rows td { font: 12px/1.5 ui-monospace, "Liberation Mono", Menlo, monospace; white-space: pre; padding-right: 1.5rem; }
tr.differs td { color: var(--p4); } tr.left td { color: var(--p7); } tr.right td { color: var(--p2); }
.wide { overflow-x: auto; }
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string document(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), kStyle, body);
}

std::string coloured(Part part, std::string_view text) {
  return fmt::format("<span class=\"p{}\">{}</span>", static_cast<int>(part), escaped(text));
}

// The leaf that each byte lies in.
void leaves_of(const Node& node, std::vector<const Node*>& leaves) {
  if (node.children.empty())
    for (std::size_t i = node.offset; i < node.offset + node.size && i < leaves.size(); ++i) leaves[i] = &node;
  for (const Node& child : node.children) leaves_of(child, leaves);
}

// The first bytes of a message in rows, each with what it belongs to. `shows` tells of a leaf whether its bytes may be
// seen.
template <class Shows>
std::string byte_table(const Node& tree, const base::Bytes& bytes, const Shows& shows) {
  std::vector<const Node*> leaves(bytes.size(), nullptr);
  leaves_of(tree, leaves);
  std::string html = "<table class=\"bytes\">\n<tr><th></th>";
  for (int i = 0; i < 16; ++i) html += fmt::format("<th scope=\"col\">{:X}</th>", i);
  html += "</tr>\n";
  for (std::size_t row = 0; row < bytes.size(); row += 16) {
    html += fmt::format("<tr><th scope=\"row\">{:04x}</th>", row);
    for (std::size_t i = row; i < std::min(row + 16, bytes.size()); ++i) {
      const Node* leaf = leaves[i];
      html += fmt::format(
          "<td class=\"p{}\" title=\"{}\">{}</td>", static_cast<int>(leaf == nullptr ? tree.part : leaf->part),
          escaped(leaf == nullptr ? "not read" : head_of(*leaf)), shows(leaf) ? fmt::format("{:02x}", bytes[i]) : "**");
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string tree_html(const Node& root) {
  std::string html = "<pre class=\"tree\">";
  for_each_node(root, [&html](const Node& node, const std::vector<bool>& last) {
    html +=
        fmt::format("<span class=\"faint\">{}</span>{}{} <span class=\"faint\">{}</span>", branch_of(last),
                    coloured(node.part, node.name), escaped(head_of(node).substr(node.name.size())), place_of(node));
    if (!node.about.empty()) {
      // Whole in the tip where the line has it cut.
      const std::string shown = shorten(node.about);
      html += shown == node.about ? " " + escaped(shown)
                                  : fmt::format(" <span title=\"{}\">{}</span>", escaped(node.about), escaped(shown));
    }
    html += '\n';
  });
  return html + "</pre>\n";
}

}  // namespace

std::string decoded_html_part(const Decoded& decoded, const base::Bytes& bytes) {
  // A cell of the table takes some hundred bytes.
  constexpr std::size_t kBytesShown = 4096;
  std::string html = fmt::format("<h2>{}</h2>\n", escaped(decoded_caption(decoded)));
  if (decoded.fault) {
    html += "<p class=\"p7\">These bytes do not parse.</p>\n<table>\n";
    for (const auto& [label, value] : fault_facts(decoded, bytes))
      html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", label, escaped(value));
    html += "</table>\n";
  } else if (decoded.rest > 0) {
    html += fmt::format("<p>{} behind the message that nothing has read.</p>\n", counted(decoded.rest, "byte"));
  }
  if (decoded.secrets && decoded.hidden) html += "<p>Secrets are hidden.</p>\n";
  const base::Bytes shown = bytes.first(kBytesShown);
  html += fmt::format("<h3>byte layout ({}{}, 16 bytes per row)</h3>\n{}",
                      shown.size() < bytes.size() ? "the first " : "", counted(shown.size(), "byte"),
                      byte_table(decoded.tree, shown, [&](const Node* leaf) { return may_show(decoded, leaf); }));
  return html + "<h3>object tree</h3>\n" + tree_html(decoded.tree);
}

std::string decoded_html(std::string_view parts) {
  return document("Decoded bytes", fmt::format("<h1>Decoded bytes</h1>\n{}", parts));
}

std::string page_html(const Page& page) {
  std::string body = fmt::format("<h1>{}</h1>\n<table class=\"facts\">\n", escaped(page.subject->name));
  for (const Fact& fact : page.facts) {
    std::string value = fact.value;
    if (fact.key == "encodedAt") value = fmt::format("v{}{}", value, page.unstable ? ", unstable" : "");
    if (fact.key.ends_with("ize")) value += " bytes";
    body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(fact.label), escaped(value));
  }
  body += fmt::format("</table>\n<p>{}</p>\n<p class=\"key\">", escaped(page.introduction));
  for (const Part part : page.colours) body += coloured(part, part_name(part));
  body += "</p>\n";
  for (const PageMessage& message : page.messages) {
    body += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", message.title, escaped(message.caption));
    body += fmt::format("<h3>byte layout ({} bytes, 16 bytes per row)</h3>\n{}", message.bytes.size(),
                        byte_table(message.tree, message.bytes, [](const Node*) { return true; }));
    body += "<h3>object tree</h3>\n" + tree_html(message.tree);
    body += fmt::format("<h3>schema</h3>\n<pre class=\"schema\">{}</pre>\n", escaped(message.entry->file.text));
  }
  return document(fmt::format("{} v{}", page.subject->name, page.version), body);
}

std::string list_html(const Catalog& catalog) {
  std::string apis;
  std::string records;
  const auto row = [](const std::vector<std::string>& cells) {
    std::string html = "<tr>";
    for (const std::string& cell : cells) html += "<td>" + escaped(cell) + "</td>";
    return html + "</tr>\n";
  };
  for (const Subject& subject : catalog.subjects()) {
    const schema::Message& first = subject.first->message;
    const std::string key = subject.key ? std::to_string(*subject.key) : "";
    if (subject.family == Family::api) {
      const bool removed = first.versions.empty();
      apis +=
          row({key, subject.name, first.versions.str(), subject.second->message.versions.str(),
               removed ? "" : first.flexible.str(), removed ? "removed" : std::to_string(subject.first->newest_stable),
               fmt::format("{}", fmt::join(first.listeners, ", "))});
    } else {
      const schema::Message& main = (subject.second != nullptr ? subject.second : subject.first)->message;
      records += row({key, subject.name, main.versions.str(), main.flexible.str(), subject.home});
    }
  }
  return document(
      "Messages",
      "<h1>APIs</h1>\n<table>\n<tr><th>key</th><th>API</th><th>request</th><th>response</th><th>flexible</th>"
      "<th>newest stable</th><th>listeners</th></tr>\n" +
          apis +
          "</table>\n<h1>Records and structures</h1>\n<table>\n<tr><th>type</th><th>name</th><th>versions</th>"
          "<th>flexible</th><th>stored in</th></tr>\n" +
          records + "</table>\n");
}

std::string difference_html(const Difference& difference) {
  const std::string title = fmt::format("{} v{} to v{}", difference.subject->name, difference.left, difference.right);
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(title));
  for (const MessageDifference& message : difference.messages) {
    body += fmt::format("<h2>{}</h2>\n<p>{} to {} bytes</p>\n", escaped(message.entry->message.name), message.left_size,
                        message.right_size);
    if (message.changes.empty()) body += "<p>no field changed</p>\n";
    if (!message.changes.empty()) body += "<ul>\n";
    for (const Change& change : message.changes)
      body += fmt::format("<li>{} <code>{}</code> {} <span class=\"faint\">{}</span></li>\n", change_name(change.kind),
                          escaped(change.path), escaped(change.detail), escaped(change.about));
    if (!message.changes.empty()) body += "</ul>\n";
    body += fmt::format("<div class=\"wide\"><table class=\"rows\">\n<tr><th>v{}</th><th>v{}</th></tr>\n",
                        difference.left, difference.right);
    for (const LayoutRow& row : message.layout) {
      static constexpr std::string_view kClasses[] = {"same", "differs", "left", "right"};
      body += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td></tr>\n",
                          kClasses[static_cast<std::size_t>(row.mark)], escaped(row.left), escaped(row.right));
    }
    body += "</table></div>\n";
  }
  return document(title, body);
}

}  // namespace thalweg::inspect
