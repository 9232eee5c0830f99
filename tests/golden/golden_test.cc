// The pages against the golden texts of this folder; README.md says what they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "inspect/print.h"

namespace thalweg::inspect {
namespace {

using Json = nlohmann::ordered_json;

std::string golden(const std::string& name) {
  std::ifstream in(std::string(std::getenv("THALWEG_SOURCE_DIR")) + "/tests/golden/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

Page page_of(const std::string& words, std::optional<int> version = std::nullopt) {
  const auto match = Catalog::built_in().look_up(words);
  EXPECT_TRUE(match) << match.error();
  auto page = make_page(Catalog::built_in(), {.match = *match, .version = version});
  EXPECT_TRUE(page) << page.error();
  return std::move(*page);
}

// Every run of white space as one space, none at the ends.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

// What a browser shows of some HTML.
std::string shown(const std::string& html) {
  std::string text;
  bool inside = false;
  for (const char c : html) {
    if (c == '<') inside = true;
    if (!inside) text += c;
    if (c == '>') inside = false;
  }
  for (const auto& [entity, character] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += 1)
      text.replace(at, std::string(entity).size(), character);
  return text;
}

std::string between(const std::string& text, const std::string& from, const std::string& to, std::size_t start = 0) {
  const std::size_t begin = text.find(from, start) + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

struct Seed {
  const char* api;
  int version;
};
constexpr Seed kSeeds[] = {{"CreateDelegationToken", 3}, {"GetTelemetrySubscriptions", 0}};

TEST(Golden, TreesAreReproducedToTheCharacter) {
  for (const Seed& seed : kSeeds) {
    const Page page = page_of(seed.api);
    EXPECT_EQ(page.version, seed.version);
    const std::string text = page_text(page);
    const std::string html = page_html(page);
    std::size_t at = 0;
    for (const PageMessage& message : page.messages) {
      const std::string name = message.entry->message.name;
      const std::string tree = golden(name + ".tree.txt");
      EXPECT_EQ(tree_text(message.tree), tree);
      EXPECT_NE(text.find("object tree\n\n" + tree), std::string::npos);
      const std::string as_page = squeezed(golden(name + ".tree.page.txt"));
      EXPECT_EQ(squeezed(tree), as_page);
      const std::string pre = between(html, "<pre class=\"tree\">", "</pre>", at);
      at = html.find(pre, at);
      EXPECT_EQ(shown(pre), tree);
      EXPECT_EQ(squeezed(shown(pre)), as_page);
    }
  }
}

TEST(Golden, BytesAreReproducedInRows) {
  for (const Seed& seed : kSeeds) {
    for (const char* side : {"Request", "Response"}) {
      const std::string rows = golden(std::string(seed.api) + side + ".hex");
      const Page page = page_of(std::string(seed.api) + side);
      ASSERT_EQ(page.messages.size(), 1U);
      EXPECT_EQ(page_bytes(page), rows);
      EXPECT_NE(page_text(page).find("      0  1  2  3  4  5  6  7  8  9  A  B  C  D  E  F\n" + rows),
                std::string::npos);
    }
  }
}

TEST(Golden, FactsAreReproduced) {
  for (const Seed& seed : kSeeds) {
    const Json facts = Json::parse(golden(std::string(seed.api) + ".facts.json"));
    const Json json = Json::parse(page_json(page_of(seed.api)));
    for (const auto& [key, value] : facts.items()) {
      if (key != "messages") EXPECT_EQ(json.value(key, Json()), value) << key;
    }
    ASSERT_EQ(json["messages"].size(), facts["messages"].size());
    for (std::size_t i = 0; i < facts["messages"].size(); ++i) {
      for (const auto& [key, value] : facts["messages"][i].items()) {
        // These two name files.
        if (key != "tree" && key != "hex") EXPECT_EQ(json["messages"][i].value(key, Json()), value) << key;
      }
    }
  }
}

TEST(Golden, TheHeadOfTheTextPageSaysTheFacts) {
  for (const Seed& seed : kSeeds) {
    const Json facts = Json::parse(golden(std::string(seed.api) + ".facts.json"));
    const std::string text = page_text(page_of(seed.api));
    const auto line = [&](const std::string& label, const std::string& value) {
      EXPECT_NE(squeezed(text).find(label + " " + value), std::string::npos) << label << " " << value;
    };
    line("API key", facts["apiKey"].dump());
    line("encoded at", "v" + facts["encodedAt"].dump());
    line("flexible versions", facts["flexibleVersions"]);
    line("headers", facts["headers"]);
    line("request versions", facts["requestVersions"]);
    line("response versions", facts["responseVersions"]);
    line("request size", facts["requestSize"].dump() + " bytes");
    line("response size", facts["responseSize"].dump() + " bytes");
    line("colours:", "frame, rpc header, request body, RecordBatch, Record, response body, tagged_fields");
    EXPECT_NE(squeezed(text).find(facts["introduction"].get<std::string>()), std::string::npos);
    for (const Json& message : facts["messages"]) {
      line("", message["caption"]);
      line("byte layout", "(" + message["size"].dump() + " bytes, 16 bytes per row)");
    }
  }
}

TEST(Golden, TheSchemaOfMetadataRequestIsTheSeedsOwn) {
  EXPECT_EQ(page_schemas(page_of("MetadataRequest")), golden("MetadataRequest.schema.json.txt"));
}

}  // namespace
}  // namespace thalweg::inspect
