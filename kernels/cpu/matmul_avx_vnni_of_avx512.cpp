// SPDX-License-Identifier: Apache-2.0
// The kernels of AVX-VNNI for machines that have vpdpbusd in AVX-512's encoding alone.
#include "cpu/matmul_avx_vnni.cpp"
