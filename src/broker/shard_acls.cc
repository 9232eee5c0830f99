// The ACLs that a core decides by: those of its view of the metadata.
#include "broker/shard.h"

namespace thalweg::broker {

void Shard::load_acls() {
  if (!authorizer_) return;
  for (const auto& [key, acl] : snapshot_->acls()) authorizer_->add(acl);
}

// What came and went within one view is decided by whether the view has it.
void Shard::apply_acl(const records::Acl& acl) {
  if (!authorizer_) return;
  authorizer_->remove(acl);
  if (auto held = snapshot_->acl(acl)) authorizer_->add(std::move(held));
}

}  // namespace thalweg::broker
