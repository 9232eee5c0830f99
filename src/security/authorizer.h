// Authorizer: who may do what, by the rules of Kafka's StandardAuthorizer. A super user may do everything; else an ACL
// that denies decides, then one that allows; where no ACL at all covers the resource, the configuration does.
//
// ACLs are found by principal, then by what they are about: exact names and prefixes are each one probe of a hash
// table, and of prefixes only those lengths are probed that some ACL of the principal has. So a check costs the same
// however many ACLs others have.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "records/acl.h"
#include "security/host_pattern.h"

namespace thalweg::security {

// The principal that stands for everyone in an ACL.
inline constexpr std::string_view kEveryone = "User:*";
// The name of a literal ACL that covers every resource of its type.
inline constexpr std::string_view kAnyName = "*";
// The only name of the only resource of type cluster.
inline constexpr std::string_view kClusterName = "kafka-cluster";

// Who asks: TYPE:NAME, and the text of the address it comes from.
struct Client {
  std::string_view principal;
  std::string_view host;
};

// What it asks for.
struct Action {
  records::AclOperation operation = records::AclOperation::unknown;
  records::AclResourceType type = records::AclResourceType::unknown;
  std::string_view name;
};

// The answer and what decided.
struct Decision {
  enum class Why {
    super_user,
    acl,            // `acl` allows or denies it
    no_acl,         // ACLs cover the resource, but none is about this
    nothing_there,  // no ACL covers the resource
  };
  bool allowed = false;
  Why why = Why::no_acl;
  const records::Acl* acl = nullptr;  // valid until the authorizer is changed
};

// The reason in words.
std::string text_of(const Decision& decision);

// Whether an ACL on `granted` that allows also allows `asked`: reading, writing, deleting or altering implies
// describing, altering configs implies describing them.
bool implies(records::AclOperation granted, records::AclOperation asked);

class Authorizer {
 public:
  struct Options {
    std::set<std::string, std::less<>> super_users;
    bool allow_if_no_acl = false;  // allow.everyone.if.no.acl.found
  };
  // Reads the value of super.users: principals, separated by semicolons.
  //   errors   one line: an entry without a colon
  static base::Result<std::set<std::string, std::less<>>, std::string> parse_super_users(std::string_view text);

  explicit Authorizer(Options options) : options_(std::move(options)) {}

  // Puts an ACL in that is not there.
  void add(std::shared_ptr<const records::Acl> acl);
  // Takes an ACL out; nothing happens where it is not there.
  void remove(const records::Acl& acl);
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] Decision decide(const Client& client, const Action& action) const;
  // Whether the client may do `operation` on at least one resource of the type that there could be. No operation
  // implies another here.
  [[nodiscard]] bool decide_by_type(const Client& client, records::AclOperation operation,
                                    records::AclResourceType type) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class T>
  using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

  // Something for each resource pattern of one type.
  template <class T>
  class Patterns {
   public:
    // The thing of that pattern, made where there is none.
    T& at(const records::Acl& acl);
    // The thing of that pattern, or null.
    T* find(const records::Acl& acl);
    void erase(const records::Acl& acl);
    // Calls visit(thing) for each pattern that covers the name, until it returns true.
    template <class Visit>
    bool visit_covering(std::string_view name, const Visit& visit) const;

    ByText<T> literal;
    ByText<T> prefixed;

   private:
    std::vector<std::pair<std::size_t, std::size_t>> lengths_;  // of prefixes, ascending, and how many have it
  };
  struct Rule {
    std::shared_ptr<const records::Acl> acl;
    HostPattern host;
  };
  static constexpr std::size_t kTypes = 8;
  using RulesOfPrincipal = std::array<Patterns<std::vector<Rule>>, kTypes>;

  static bool is_about(const Rule& rule, const Client& client, records::AclOperation operation);

  Options options_;
  ByText<RulesOfPrincipal> rules_;
  std::array<Patterns<std::size_t>, kTypes> covered_;  // how many ACLs of anyone each pattern has
  std::size_t size_ = 0;
};

}  // namespace thalweg::security
