// SPDX-License-Identifier: Apache-2.0
// What cpuid says of the extensions that bring vpdpbusd.
#pragma once

namespace redline::kernels {

bool has_avx_vnni();     // 256 bits, in the encoding of AVX
bool has_avx512_vnni();  // 512 and 256 bits, with what else these kernels use of AVX-512

}  // namespace redline::kernels
