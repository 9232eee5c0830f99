// What a check costs beside how many ACLs there are.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "security/authorizer.h"

namespace {

using namespace thalweg;
using records::Acl;

// Users with a hundred ACLs each: names, and prefixes of ten lengths.
security::Authorizer authorizer_of(std::int64_t acls) {
  security::Authorizer authorizer({});
  for (std::int64_t i = 0; i < acls; ++i) {
    const bool is_prefix = i % 2 == 0;
    authorizer.add(std::make_shared<const Acl>(
        Acl{.resource_type = records::AclResourceType::topic,
            .resource_name = fmt::format("team-{}-{}", i % 100, std::string(static_cast<std::size_t>(i % 10), 'x')) +
                             std::to_string(i / 100),
            .pattern_type = is_prefix ? records::AclPatternType::prefixed : records::AclPatternType::literal,
            .principal = fmt::format("User:user-{}", i / 100),
            .host = "*",
            .operation = records::AclOperation::read,
            .permission = records::AclPermission::allow}));
  }
  return authorizer;
}

void BM_Decide(benchmark::State& state) {
  const security::Authorizer authorizer = authorizer_of(state.range(0));
  const std::string principal = fmt::format("User:user-{}", state.range(0) / 200);
  const security::Client client{.principal = principal, .host = "10.0.0.1"};
  // Covered by nothing: every place is looked at.
  const security::Action action{.operation = records::AclOperation::read,
                                .type = records::AclResourceType::topic,
                                .name = "team-77-orders-of-the-day"};
  for (auto _ : state) benchmark::DoNotOptimize(authorizer.decide(client, action));
}
BENCHMARK(BM_Decide)->ArgName("acls")->Arg(100)->Arg(10'000)->Arg(100'000);

}  // namespace
