// Random bytes that nobody can foretell: nonces, salts and keys. What a simulation must be able to repeat does not come
// from here but from Random.
#pragma once

#include <cstddef>
#include <string>

namespace thalweg::runtime {

// That many bytes from the system's generator, by way of OpenSSL; from any thread.
std::string secure_random_bytes(std::size_t count);

}  // namespace thalweg::runtime
