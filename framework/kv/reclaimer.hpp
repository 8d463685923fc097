// SPDX-License-Identifier: Apache-2.0
// Holds pages of a PagePool that it can do without: the pool asks for them when its free ones run
// out, and says when somebody else holds one of them too.
#pragma once
#include <cstdint>

#include "kv/kv_shape.hpp"

namespace redline::kv {

class Reclaimer {
 public:
  virtual ~Reclaimer() = default;
  virtual std::int32_t reclaimable() const = 0;
  virtual void reclaim(std::int32_t pages) = 0;  // gives so many back to the pool, or all it can

 private:
  friend class PagePool;
  // The page's count rose from 1 to 2 (shared), or fell from 2 to 1. Called for any page.
  virtual void sharing_changed(PageId page, bool shared) noexcept = 0;
};

}  // namespace redline::kv
