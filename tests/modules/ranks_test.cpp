// SPDX-License-Identifier: Apache-2.0
// Heads on tensor-parallel ranks.
#include <catch2/catch.hpp>

#include "model/ranks.hpp"
#include "model/sharded.hpp"
#include "modules/drafting.hpp"

using namespace redline;
using namespace redline::tests;

namespace {

constexpr std::int32_t kPages = 40;
constexpr Token kMask = 258;
constexpr double kFloatError = 1e-3;  // of K and V in F16

struct Files {
  explicit Files(const Head& of)
      : target(model::TinySpec{
            .layers = 3, .heads = 8, .kv_heads = 4, .type = files::TensorType::F32}),
        shape(model::shape_of(target.open())),
        head(of.file(shape.hidden, shape.vocab, files::TensorType::F32)),
        of_head(model::tiny_options(target)),
        of_target(of_head) {
    of_target.taps = of.taps;
  }
  model::TinyFile target;
  model::Shape shape;
  model::TinyFile head;
  model::LoadOptions of_head, of_target;
};

// Every row that the head may be asked for, and what the formulas say it is.
void check_rows(const Head& head, const Files& files, step::DraftModel& model, Drafting& d) {
  const auto head_file = files.head.open(), target_file = files.target.open();
  const NaiveHead naive(head_file, target_file);
  Draft draft(files.shape.vocab);
  const bool is_block = head.build == build_flash;
  while (head.build != build_medusa && draft.size() < 3)
    draft.append({draft.size(), is_block ? kMask : 2 * draft.size() + 3});
  std::vector<Node> nodes;
  for (Node n = kRoot; n <= draft.size(); ++n) nodes.push_back(n);
  d.ask(draft, nodes);
  std::vector<Token> all = d.text.tokens;
  for (const Token token : draft.path(draft.size())) all.push_back(token);
  std::vector<Numbers> expected;
  if (head.build == build_medusa) expected = naive_medusa(naive, d.text.taps);
  if (is_block) expected = naive_flash(naive, std::span(all).subspan(d.text.root()), d.text.taps);
  if (head.build == build_eagle) {
    expected = naive_eagle(naive, all, d.text.taps);
    expected.erase(expected.begin(), expected.begin() + d.text.root());
  }
  const auto path = draft.path(draft.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::vector<Token> of_depth = k <= path.size()
                                            ? std::vector<Token>(path.begin(), path.begin() + k)
                                            : std::vector<Token>(k);
    CHECK(error_of(model.raw(1, of_depth), expected[k]) < kFloatError);
  }
}

}  // namespace

TEST_CASE("A led head gives its formula's rows at every degree, step after step") {
  const int degree = GENERATE(1, 2, 8);
  const Head head = GENERATE(medusa(), eagle(), flash());
  const Files files(head);
  device::Device device(1, kernels::best());
  const auto ranks = model::Ranks::of_threads(8, 1, kernels::best(), tests::kPatient);
  const auto target =
      ranks->lead().open(files.target.open(), degree, device, files.of_target, kPages);
  const auto module =
      ranks->lead().open_module(files.head.open(), model::record_graph(head.build),
                                places(head.taps.size()), *target, device, files.of_head, kPages);
  step::DraftModel model(module->forward(), module->pool(), true);
  Drafting d({target->forward(), module->forward(), target->pool(), module->pool()}, model, 1,
             model::some_ids(14, files.shape.vocab));
  for (const std::vector<Token>& path : {std::vector<Token>{}, {3}, {3, 5}}) {
    check_rows(head, files, model, d);
    d.move_on(path, 7);
  }
  d.fill(2);
  check_rows(head, files, model, d);
}

TEST_CASE("Every rank keeps the same bits of a head") {
  const Head head = GENERATE(eagle(), flash());
  const Files files(head);
  constexpr int kDegree = 4;
  std::vector<Bytes> kept(kDegree);
  const auto thrown = tests::run_ranks(kDegree, [&](parallel::Communicator& world) {
    device::Device device(1, kernels::best());
    model::Decoder target(files.target.open(), device, world, files.of_target);
    model::Module module(
        files.head.open(),
        model::module_plan(files.head.open(), model::record_graph(head.build),
                           target.architecture(), static_cast<std::int32_t>(head.taps.size())),
        places(head.taps.size()), target, device, files.of_head);
    kv::PagePool of_target(target.kv_shape(), kPages), of_module(module.kv_shape(), kPages);
    Text text({target, module, of_target, of_module}, model::some_ids(30, files.shape.vocab));
    text.fill(29, 9);
    kept[world.rank()] = kept_of(text.of_head);
  });
  for (const std::string& text : thrown) CHECK(text.empty());
  REQUIRE_FALSE(kept[0].empty());
  for (int rank = 1; rank < kDegree; ++rank) CHECK((kept[rank] == kept[0]));
}

TEST_CASE("A head that cannot run is refused at every degree, and the ranks go on") {
  const Files files(eagle());
  device::Device device(1, kernels::best());
  const auto ranks = model::Ranks::of_threads(2, 1, kernels::best(), tests::kPatient);
  const auto target = ranks->lead().open(files.target.open(), 2, device, files.of_target, kPages);
  const auto open = [&](std::size_t taps) {
    return ranks->lead().open_module(files.head.open(), model::record_graph(build_eagle),
                                     places(taps), *target, device, files.of_head, kPages);
  };
  CHECK_THROWS_WITH(open(2), Catch::Contains("tap 2 asked for, the drafter's contract declares 2"));
  CHECK_THROWS_WITH(open(4), Catch::Contains("tap 3 of a target that keeps 768 floats"));
  CHECK_NOTHROW(open(3));
}
