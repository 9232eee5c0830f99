// Pages, lists and differences as text, JSON and HTML.
#pragma once

#include <string>

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

}  // namespace thalweg::inspect
