// Pages, lists and differences as text, JSON and HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/decode.h"
#include "inspect/difference.h"
#include "inspect/page.h"

namespace thalweg::inspect {

struct TextOptions {
  bool colour = false;  // with the escape sequences of a terminal
};

std::string page_text(const Page& page, const TextOptions& options = {});
std::string page_json(const Page& page);
// A document of its own: no scripts, nothing to load.
std::string page_html(const Page& page);

// The bytes alone, or the schemas alone; where there are several, each behind a line with its caption.
std::string page_bytes(const Page& page, const TextOptions& options = {});
std::string page_schemas(const Page& page);

std::string list_text(const Catalog& catalog, const TextOptions& options = {});
std::string list_json(const Catalog& catalog);
std::string list_html(const Catalog& catalog);

std::string difference_text(const Difference& difference, const TextOptions& options = {});
std::string difference_json(const Difference& difference);
std::string difference_html(const Difference& difference);

// A message or record batches that were decoded from `bytes`: a caption, the tree, and where it ends at a fault, what
// was expected there and what stands there. Secrets that the tree hides are hidden in the bytes too.
std::string decoded_text(const Decoded& decoded, const base::Bytes& bytes, const TextOptions& options = {});
// The caption, and what is to be said of a fault as labels and values; none where there is no fault.
std::string decoded_caption(const Decoded& decoded);
std::vector<std::pair<std::string, std::string>> fault_facts(const Decoded& decoded, const base::Bytes& bytes);
// All of it as a part of a page, with the bytes in rows, and the page around such parts.
std::string decoded_html_part(const Decoded& decoded, const base::Bytes& bytes);
std::string decoded_html(std::string_view parts);

}  // namespace thalweg::inspect
