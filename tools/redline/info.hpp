// SPDX-License-Identifier: Apache-2.0
// `redline info`: what this program is and where it looks.
#pragma once

namespace redline::tool {

struct InfoOptions {
  bool json = false;
};
int info(const InfoOptions& options);

}  // namespace redline::tool
