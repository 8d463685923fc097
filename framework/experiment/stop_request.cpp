// SPDX-License-Identifier: Apache-2.0
#include "experiment/stop_request.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace redline::experiment {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopRequest::StopRequest() {
  const sigset_t set = stop_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

bool StopRequest::asked() {
  const sigset_t set = stop_signals();
  const timespec now{};
  asked_ = asked_ || ::sigtimedwait(&set, nullptr, &now) > 0;
  return asked_;
}

void end_with(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::raise(SIGTERM);
}

}  // namespace redline::experiment
