// SPDX-License-Identifier: Apache-2.0
#include "cpu/peak_avx_vnni.cpp"
