// SPDX-License-Identifier: Apache-2.0
#include "plugin/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "redline/error.hpp"

namespace redline::plugin {

std::string sha256_of(const std::filesystem::path& file) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::ifstream in(file, std::ios::binary);
  if (!hash || EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) != 1 || !in)
    throw PluginError(file.string() + ": cannot be read; check its permissions");
  std::array<char, 65536> chunk;
  while (in.read(chunk.data(), chunk.size()), in.gcount() > 0)
    EVP_DigestUpdate(hash.get(), chunk.data(), static_cast<std::size_t>(in.gcount()));
  std::array<unsigned char, 32> digest;
  EVP_DigestFinal_ex(hash.get(), digest.data(), nullptr);
  std::string hex;
  for (const unsigned char byte : digest)
    (hex += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
  return hex;
}

}  // namespace redline::plugin
