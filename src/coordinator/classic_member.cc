#include "coordinator/classic_member.h"

#include <algorithm>

namespace thalweg::coordinator {

base::Bytes ClassicMember::metadata(std::string_view protocol) const {
  const auto it = std::ranges::find(protocols, protocol, &Protocol::name);
  return it == protocols.end() ? base::Bytes() : it->metadata;
}

bool ClassicMember::knows(std::string_view protocol) const {
  return std::ranges::find(protocols, protocol, &Protocol::name) != protocols.end();
}

std::vector<ClassicMember::Protocol> own_protocols(const protocol::JoinGroupRequest& request) {
  std::vector<ClassicMember::Protocol> protocols;
  protocols.reserve(request.protocols.size());
  for (const auto& p : request.protocols) protocols.push_back({.name = p.name.str(), .metadata = p.metadata.copy()});
  return protocols;
}

}  // namespace thalweg::coordinator
