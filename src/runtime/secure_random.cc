#include "runtime/secure_random.h"

#include <openssl/rand.h>

#include "base/check.h"

namespace thalweg::runtime {

std::string secure_random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  const int done = RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count));
  // Without randomness no login is safe, and none can be made so by going on.
  CHECK(done == 1, "the machine gives random bytes");
  return bytes;
}

}  // namespace thalweg::runtime
