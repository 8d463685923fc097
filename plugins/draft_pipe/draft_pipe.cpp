// SPDX-License-Identifier: Apache-2.0
// Drafts by another process, in whatever language: an idea is tried first and ported later. The
// process gives tokens (DELTA), or rows from which the host draws (ROW).
#include "exchange.hpp"
#include "process.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Proposal, redline::Token;

class DraftPipe final : public redline::Drafter {
 public:
  struct Params {
    std::string command, mode = "delta";
    bool tree = false;
    double limit_s = 10, start_s = 60;
    void visit(redline::ParameterVisitor& v) {
      v("command", command, "what to start, by /bin/sh, in the working directory of redline");
      v("mode", mode, {"delta", "row"}, "it gives tokens, or the rows to draw them from");
      v("tree", tree, "it may give trees (delta only)");
      v("limit_s", limit_s, {1e-3, 86400}, "seconds an answer may take");
      v("start_s", start_s, {1e-3, 86400}, "seconds until it is ready");
    }
  };
  explicit DraftPipe(const Params& p)
      : params_(checked(p)), process_(p.command, memory_.file(), Seconds(p.start_s)) {}

 private:
  using Seconds = piped::Process::Seconds;
  using Ids = std::vector<std::int64_t>;

  struct Spot {  // a node that is asked about
    Proposal* proposal;
    Node node;
  };
  class Remembered final : public redline::State {  // tells the process when a request ends
   public:
    Remembered(std::uint64_t id, std::shared_ptr<Ids> ended) : id_(id), ended_(std::move(ended)) {}
    ~Remembered() override { ended_->push_back(static_cast<std::int64_t>(id_)); }

   private:
    std::uint64_t id_;
    std::shared_ptr<Ids> ended_;  // shared: requests may outlive the plugin
  };

  static const Params& checked(const Params& p) {
    if (p.command.empty())
      throw redline::InputError(
          "command is empty; name what gives the drafts, e.g. command: python3 my_drafter.py");
    if (p.tree && p.mode == "row")
      throw redline::InputError("tree: true takes mode: delta, it is row; rows make chains");
    return p;
  }

  bool gives_rows() const { return params_.mode == "row"; }

  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = gives_rows()},
            .shape = params_.tree ? redline::Shape::TREE : redline::Shape::CHAIN};
  }
  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    return std::make_unique<Remembered>(s.id, ended_);
  }

  void do_propose(std::span<Proposal> batch) override {
    std::vector<Spot> spots;
    for (Proposal& p : batch)
      if (p.has_room(redline::kRoot)) spots.push_back({&p, redline::kRoot});
    while (!spots.empty()) {
      const piped::Exchange exchange(memory_, gives_rows() ? piped::ROW : piped::DELTA,
                                     spots.front().proposal->sequence().vocab, questions(spots),
                                     *ended_);
      ended_->clear();
      process_.exchange(Seconds(params_.limit_s));
      std::vector<Spot> grown;
      for (std::size_t k = 0; k < spots.size(); ++k) {
        const Node tip =
            gives_rows() ? draw(spots[k], exchange, k) : take(*spots[k].proposal, exchange, k);
        if (tip != redline::kNone && spots[k].proposal->has_room(tip))
          grown.push_back({spots[k].proposal, tip});
      }
      spots = std::move(grown);
    }
  }

  static std::vector<piped::Question> questions(const std::vector<Spot>& spots) {
    std::vector<piped::Question> out;
    for (const auto& [proposal, node] : spots) {
      const redline::Sequence& of = proposal->sequence();
      const redline::Draft& draft = proposal->draft();
      std::vector<Token> text(of.tokens.begin(), of.tokens.end());
      const redline::List<Token> drafted = draft.path(node);
      text.insert(text.end(), drafted.begin(), drafted.end());
      const piped::Ask about{.sequence = static_cast<std::int64_t>(of.id),
                             .prompt_tokens = of.prompt_tokens,
                             .drafted = draft.depth(node),
                             .max_nodes = proposal->budget().max_nodes - draft.size(),
                             .max_depth = proposal->budget().max_depth - draft.depth(node)};
      out.push_back({about, std::move(text)});
    }
    return out;
  }

  [[noreturn]] void refuse(const Proposal& p, const std::string& what) const {
    throw redline::Error("`" + process_.command() + "`, sequence " +
                         std::to_string(p.sequence().id) + ": " + what);
  }

  // ROW: the host draws the token after this node; the new node, kNone where the chain ends.
  Node draw(const Spot& s, const piped::Exchange& exchange, std::size_t k) const {
    const std::int32_t count = exchange.count(k);
    if (count != 0 && count != 1)
      refuse(*s.proposal, std::to_string(count) + " rows given; give 1, or 0 to stop here");
    return count == 0 ? redline::kNone : s.proposal->sample(s.node, row_of(s, exchange, k));
  }
  redline::Row row_of(const Spot& s, const piped::Exchange& exchange, std::size_t k) const {
    try {
      return redline::Row::dense(exchange.payload<float>(k, s.proposal->sequence().vocab));
    } catch (const redline::Error& e) {
      refuse(*s.proposal, "the row after " + std::to_string(s.proposal->draft().depth(s.node)) +
                              " drafted tokens: " + e.what());
    }
  }

  // DELTA: the whole draft at once; nothing is left to ask.
  Node take(Proposal& p, const piped::Exchange& exchange, std::size_t k) const {
    const std::int32_t count = exchange.count(k);
    const std::int32_t fit = p.budget().max_nodes;
    if (count < 0 || count > fit)
      refuse(p, std::to_string(count) + " nodes given, 0 to " + std::to_string(fit) + " fit");
    const auto given = exchange.payload<piped::GivenNode>(k, count);
    std::vector<Node> made{redline::kRoot};  // by the process's numbers
    for (Node n = 1; n <= count; ++n) {
      const auto [parent, token] = given[n - 1];
      const std::string node = "node " + std::to_string(n);
      if (token < 0 || token >= p.sequence().vocab)
        refuse(p, node + " has token " + std::to_string(token) +
                      ", V = " + std::to_string(p.sequence().vocab));
      if (parent < 0 || parent >= n)
        refuse(p,
               node + " has parent " + std::to_string(parent) + "; parents come first, 0 is root");
      if (!params_.tree && parent != n - 1)
        refuse(p, node + " has parent " + std::to_string(parent) + " in a chain; set tree: true");
      made.push_back(made[parent] == redline::kNone ? redline::kNone : p.add(made[parent], token));
    }
    return redline::kNone;
  }

  Params params_;
  piped::Memory memory_;
  std::shared_ptr<Ids> ended_ = std::make_shared<Ids>();  // not yet told
  piped::Process process_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftPipe>("draft_pipe", "drafts by a process of yours"));
