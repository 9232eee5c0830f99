#include "config/providers.h"

#include <gtest/gtest.h>

#include <map>

namespace thalweg::config {
namespace {

const std::map<std::string, std::string> kEnvironment = {{"PASSWORD", "p=1,2"}, {"EMPTY", ""}, {"LOOP", "${env:LOOP}"}};
const std::map<std::string, std::string> kFiles = {{"/etc/secrets.properties", "key = from file\ndup=1\ndup=2\n"},
                                                   {"/run/secrets/token", "abc\n"}};

const ProviderSources kSources = {.environment = [](const std::string& name) -> std::optional<std::string> {
                                    const auto at = kEnvironment.find(name);
                                    return at == kEnvironment.end() ? std::nullopt : std::optional(at->second);
                                  },
                                  .read_file = [](const std::string& path) -> std::expected<std::string, std::string> {
                                    const auto at = kFiles.find(path);
                                    if (at == kFiles.end()) return std::unexpected(path + ": cannot be read");
                                    return at->second;
                                  }};

// The value of the last line of a text once it is resolved, or the error.
std::string resolve(std::string_view text) {
  auto entries = resolve_providers(parse_properties(text, "f").value(), kSources);
  return entries ? entries->back().value : entries.error();
}

TEST(Providers, TheEnvironmentAndFilesNeedNoDeclaration) {
  EXPECT_EQ(resolve("a=${env:PASSWORD}"), "p=1,2");
  EXPECT_EQ(resolve("a=x${env:EMPTY}y${env:PASSWORD}z"), "xyp=1,2z");
  EXPECT_EQ(resolve("a=${file:/etc/secrets.properties:key}"), "from file");
  EXPECT_EQ(resolve("a=${file:/etc/secrets.properties:dup}"), "2");
  EXPECT_EQ(resolve("a=${dir:/run/secrets:token}"), "abc\n");
}

TEST(Providers, WhatIsPutInIsNotLookedAtAgain) { EXPECT_EQ(resolve("a=${env:LOOP}"), "${env:LOOP}"); }

TEST(Providers, WhatNoProviderKnowsStaysAsItIs) {
  EXPECT_EQ(resolve("a=${other:x} $env:PASSWORD ${env ${}"), "${other:x} $env:PASSWORD ${env ${}");
  EXPECT_EQ(resolve("a=RULE:[1:$1](foo)s/a/b/"), "RULE:[1:$1](foo)s/a/b/");
  EXPECT_EQ(resolve("a=$${env:PASSWORD}"), "$p=1,2");
}

TEST(Providers, WhatIsMissingStopsTheStart) {
  EXPECT_EQ(resolve("\na=${env:NOPE}"), "f:2: a: environment variable NOPE is not set");
  EXPECT_EQ(resolve("a=${env:}"), "f:1: a: environment variable  is not set");
  EXPECT_EQ(resolve("a=${env:path:PASSWORD}"), "f:1: a: an environment variable has no path");
  EXPECT_EQ(resolve("a=${file:/etc/secrets.properties:nope}"), "f:1: a: /etc/secrets.properties has no key nope");
  EXPECT_EQ(resolve("a=${file:/nope:key}"), "f:1: a: /nope: cannot be read");
  EXPECT_EQ(resolve("a=${file:key}"), "f:1: a: the path is missing");
}

TEST(Providers, KafkasDeclarationsGiveOtherNames) {
  const std::string vault =
      "config.providers=vault\nconfig.providers.vault.class="
      "org.apache.kafka.common.config.provider.FileConfigProvider\n";
  EXPECT_EQ(resolve(vault + "a=${vault:/etc/secrets.properties:key}"), "from file");
  EXPECT_EQ(resolve(vault + "config.providers.vault.param.allowed.paths=/etc/\na=${vault:/etc/secrets.properties:key}"),
            "from file");
  EXPECT_EQ(resolve(vault + "config.providers.vault.param.allowed.paths=/run\na=${vault:/etc/secrets.properties:key}"),
            "f:4: a: /etc/secrets.properties is not within the allowed.paths");
  EXPECT_EQ(
      resolve(vault + "config.providers.vault.param.allowed.paths=/run\na=${vault:/run/../etc/secrets.properties:key}"),
      "f:4: a: /run/../etc/secrets.properties is not within the allowed.paths");
  EXPECT_EQ(resolve("config.providers=env\nconfig.providers.env.class=org.apache.kafka.common.config.provider."
                    "EnvVarConfigProvider\nconfig.providers.env.param.allowlist.pattern=P.*\na=${env:PASSWORD}"),
            "p=1,2");
  EXPECT_EQ(resolve("config.providers=env\nconfig.providers.env.class=org.apache.kafka.common.config.provider."
                    "EnvVarConfigProvider\nconfig.providers.env.param.allowlist.pattern=Q.*\na=${env:PASSWORD}"),
            "f:4: a: environment variable PASSWORD is not allowed by the allowlist.pattern");
}

TEST(Providers, AJavaClassCannotBeAProvider) {
  EXPECT_EQ(resolve("config.providers=x\nconfig.providers.x.class=com.acme.Vault\n"),
            "f:2: config.providers.x.class=com.acme.Vault: not supported: Java classes cannot be loaded; allowed: "
            "EnvVarConfigProvider, FileConfigProvider, DirectoryConfigProvider of "
            "org.apache.kafka.common.config.provider");
}

}  // namespace
}  // namespace thalweg::config
