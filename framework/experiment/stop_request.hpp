// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a question asked between steps: no handler runs, nothing is half done.
#pragma once

namespace redline::experiment {

class StopRequest {
 public:
  StopRequest();  // holds SIGINT and SIGTERM back, in threads started later too
  bool asked();   // one came since; stays true

 private:
  bool asked_ = false;
};

// This process gets SIGTERM when `parent` ends; at once when it has ended already.
void end_with(int parent);

}  // namespace redline::experiment
