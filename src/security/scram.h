// ScramServer: one login by SCRAM, from the client's first message to the server's last.
//
//   client  n,[a=authorization id],n=user,r=nonce[,tokenauth=true]
//   server  r=nonce and ours,s=salt,i=iterations
//   client  c=what the client said of channel binding,r=nonce and ours,p=proof
//   server  v=signature
//
// Channels are not bound: a client that could but believes that we cannot (y) is taken, one that insists (p) is not.
//
//   source   RFC 5802, RFC 7677; KIP-84, and KIP-48 for tokenauth
#pragma once

#include <string>
#include <string_view>

#include "records/scram_credential.h"
#include "security/crypto.h"
#include "security/sasl.h"

namespace thalweg::security {

class ScramServer {
 public:
  // `nonce` is this login's own: random, printable, without a comma.
  ScramServer(records::ScramMechanism mechanism, std::string nonce);

  // Who wants to log in.
  struct Claim {
    std::string user;       // with is_token the id of a delegation token
    bool is_token = false;  // tokenauth=true
  };

  // Reads the client's first message.
  //   errors   it is none, it insists on channel binding or an extension, or on being somebody else
  SaslResult<Claim> begin(std::string_view message);
  // Answers it: the salt and the iterations of the claimant's credential. Where there is none the caller gives a decoy.
  std::string challenge(records::ScramCredential credential);
  // Reads the client's final message and proves in turn that we know the credential.
  //   errors   another nonce, another channel binding than at first, or the wrong proof
  SaslResult<std::string> finish(std::string_view message);

 private:
  const Hash hash_;
  const std::string nonce_;
  std::string channel_;  // the first message up to its bare part
  std::string client_nonce_;
  std::string transcript_;  // the client's first message, bare, and our answer
  records::ScramCredential credential_;
};

}  // namespace thalweg::security
