// SPDX-License-Identifier: Apache-2.0
#include "files/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <vector>

#include "redline/error.hpp"

namespace redline::files {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (!context_->state || EVP_DigestInit_ex(context_->state.get(), EVP_sha256(), nullptr) != 1)
    throw Error("libcrypto offers no SHA-256 here; install Debian's libssl3");
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context_->state.get(), bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  EVP_DigestFinal_ex(context_->state.get(), digest.data(), nullptr);
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : digest) out += {kHex[byte >> 4], kHex[byte & 15]};
  return out;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path,
                        const std::function<void(std::uint64_t)>& progress) {
  std::ifstream in(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> block(1 << 20);
  std::uint64_t done = 0;
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto got = static_cast<std::size_t>(in.gcount());
    hash.add(std::string_view(block.data(), got));
    done += got;
    if (progress) progress(done);
  }
  if (!in.eof()) throw InputError(path.string() + ": cannot be read for its SHA-256");
  return hash.hex();
}

}  // namespace redline::files
