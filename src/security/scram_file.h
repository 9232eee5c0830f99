// A file with SCRAM credentials, for the first user of a cluster, who must be there before anybody can log in to make
// one. A line names one, in the words of Kafka's own `--add-scram`; # begins a comment.
//
//   SCRAM-SHA-256=[name=alice,password=alice-secret]
//   SCRAM-SHA-512=[name=bob,iterations=8192,salt="BASE64",saltedpassword="BASE64"]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/scram_credential.h"

namespace thalweg::security {

struct ScramLine {
  records::ScramKey key;
  std::int32_t iterations = 0;
  std::string salt;             // empty: any
  std::string password;         // or
  std::string salted_password;  // with its salt
};

// Reads the whole text.
//   errors   one line: the number of the line and what is wrong with it, without its secrets
base::Result<std::vector<ScramLine>, std::string> parse_scram_file(std::string_view text);

// The credential of a line; `salt` is used where the line has none.
records::ScramCredential credential_of(const ScramLine& line, std::string_view salt);

}  // namespace thalweg::security
