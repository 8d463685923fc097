// SPDX-License-Identifier: Apache-2.0
// Gate 1 refuses this file: a shared library, but no plugin.
extern "C" __attribute__((visibility("default"))) int answer() { return 42; }
