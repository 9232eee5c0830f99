// The page of a message: facts, an introduction, and for each of its messages the smallest instance with its tree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "inspect/catalog.h"
#include "inspect/tree.h"

namespace thalweg::inspect {

struct PageRequest {
  Match match;
  std::optional<int> version;  // the newest stable one where none is asked for
};

// One line at the head of a page.
struct Fact {
  std::string label;  // as people read it
  std::string key;    // as JSON has it
  std::string value;
  bool number = false;  // a number in JSON
};

struct PageMessage {
  const MessageEntry* entry = nullptr;
  Envelope envelope;
  std::string title;  // Request, Response, Key, Value, Record or Structure
  std::string caption;
  base::Bytes bytes;
  std::size_t header_size = 0;  // what stands in front of the body, without the size of a frame
  std::size_t body_size = 0;
  Node tree;
};

struct Page {
  const Subject* subject = nullptr;
  int version = 0;
  bool unstable = false;
  std::vector<Fact> facts;
  std::string introduction;
  std::vector<Part> colours;  // the key of the colours, in order
  std::vector<PageMessage> messages;
};

// The error is one line: a version that the message does not have, a message that was removed.
base::Result<Page, std::string> make_page(const Catalog& catalog, const PageRequest& request);

// The smallest instance of a message with its tree.
PageMessage make_message(const Catalog& catalog, const Subject& subject, const MessageEntry& entry, int version);

// The messages of a subject that a side names.
std::vector<const MessageEntry*> messages_of(const Match& match);

// The bytes in rows of 16, each with its position: 0000  00 01 ...
std::string hex_rows(const base::Bytes& bytes);

}  // namespace thalweg::inspect
