// SPDX-License-Identifier: Apache-2.0
// Prompt lookup: find the text's last n tokens earlier in the text, propose what followed them
// there.
#include <algorithm>
#include <map>

#include "redline/plugin.hpp"

namespace {

using redline::Token;
using Text = std::span<const Token>;

class DraftNgram final : public redline::Drafter {
 public:
  struct Params {
    int n_max = 3, n_min = 1, k = 10;
    std::string pick = "last";
    void visit(redline::ParameterVisitor& v) {
      v("n_max", n_max, {1, 64}, "longest ending to look for, in tokens; tried first");
      v("n_min", n_min, {1, 64}, "shortest ending to look for, in tokens");
      v("k", k, {1, 1024}, "tokens proposed at most; the length policy may allow fewer");
      v("pick", pick, {"last", "first", "most_frequent"}, "which earlier occurrence to follow");
    }
  };
  explicit DraftNgram(const Params& p) : params_(p) {
    if (p.n_min > p.n_max)
      throw redline::InputError("n_min = " + std::to_string(p.n_min) + " is above n_max = " +
                                std::to_string(p.n_max) + "; lower it or raise n_max");
  }

 private:
  redline::DrafterContract do_contract() const override { return {}; }

  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& proposal : batch) {
      redline::Node u = redline::kRoot;
      for (const Token t : continuation(proposal.sequence().tokens))
        if ((u = proposal.add(u, t)) == redline::kNone) break;
    }
  }

  // What followed the longest ending that occurs earlier; empty when none does.
  Text continuation(Text text) const {
    for (int n = std::min<int>(params_.n_max, static_cast<int>(text.size()) - 1);
         n >= params_.n_min; --n) {
      const std::vector<std::size_t> places = after_matches(text, n);
      if (places.empty()) continue;
      const Text follows = text.subspan(chosen(text, places));
      return follows.first(std::min<std::size_t>(follows.size(), params_.k));
    }
    return {};
  }

  // Where the last n tokens end earlier in the text, in rising order: indices of the token after.
  static std::vector<std::size_t> after_matches(Text text, std::size_t n) {
    const Text ending = text.last(n);
    std::vector<std::size_t> places;
    for (std::size_t at = n; at < text.size(); ++at)
      if (std::equal(ending.begin(), ending.end(), text.begin() + (at - n))) places.push_back(at);
    return places;
  }

  std::size_t chosen(Text text, const std::vector<std::size_t>& places) const {
    if (params_.pick == "first") return places.front();
    if (params_.pick == "last") return places.back();
    std::map<Token, int> times;
    for (const std::size_t at : places) ++times[text[at]];
    return *std::max_element(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      const int ta = times[text[a]], tb = times[text[b]];
      return ta != tb ? ta < tb : a < b;
    });
  }

  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftNgram>("draft_ngram", "prompt lookup: what followed before"));
