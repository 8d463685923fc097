// SPDX-License-Identifier: Apache-2.0
#include "trace/hdf5_error.hpp"

#include <hdf5.h>

#include "redline/error.hpp"

namespace redline::trace::hdf5 {
namespace {

// The description of a failed system call runs over 200 characters; its quoted message says it all.
std::string shortened(const std::string& text) {
  constexpr std::string_view kMark = "error message = '";
  const std::size_t at = text.find(kMark);
  if (at == std::string::npos) return text;
  const std::size_t from = at + kMark.size();
  return text.substr(from, text.find('\'', from) - from);
}

herr_t keep_first(unsigned n, const H5E_error2_t* error, void* out) {
  if (n == 0 && error->desc) *static_cast<std::string*>(out) = shortened(error->desc);
  return 0;
}

bool prepare_process() {
  // The exit handler would flush abandoned files, and crashes on a full disk (1.10.8).
  H5dont_atexit();
  H5open();
  H5PLset_loading_state(0);  // a file must not choose code to load
  return true;
}

}  // namespace

void prepare_thread() {
  static const bool process = prepare_process();
  // The error stack and its printer belong to the thread.
  thread_local const bool thread = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  (void)process, (void)thread;
}

std::string last_reason() {
  std::string reason = "no reason given by HDF5";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason;
}

Id checked(Id result, const std::string& what) {
  if (result < 0) throw Error(what + ": " + last_reason());
  return result;
}

}  // namespace redline::trace::hdf5
