// Values that nobody should see: which fields hold them, and how a tree shows them without.
#pragma once

#include <span>
#include <string_view>

#include "inspect/catalog.h"
#include "inspect/tree.h"

namespace thalweg::inspect {

// A field of a schema that holds a secret.
struct SecretField {
  std::string_view message;
  std::string_view field;
  // Not empty: the value of a setting, which is a secret only where this field beside it names one that is.
  std::string_view named_by;
  // A message of its own: a secret unless it was opened whole and is of a kind that holds none.
  bool is_message = false;
};
std::span<const SecretField> secret_fields();

// Whether the message has a field that can hold a secret.
bool may_hold_secrets(std::string_view message);
// Whether a configuration key names a secret, such as ssl.keystore.password.
bool is_secret_setting(std::string_view key);

// Marks the nodes of `root` that are secrets, those that SASL messages have marked already included, and each value
// that something secret was found inside. `root` is the tree of `message`. Returns
// whether there are any.
bool mark_secrets(Node& root, std::string_view message);
// Replaces the values of all nodes that are marked by what they are.
void hide_secrets(Node& root);

}  // namespace thalweg::inspect
