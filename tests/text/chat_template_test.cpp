// SPDX-License-Identifier: Apache-2.0
// The models' own templates against jinja2 are in chat_template_test.py; here is what they do not
// show: refusals, names given by the user, and the one BOS.
#include "text/chat_template.hpp"

#include <catch2/catch.hpp>

#include "redline/error.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;
using text::ChatTemplate;

namespace {

const std::string kPlain =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

files::Gguf with_template(const std::string& text, bool add_bos = false) {
  SmallVocabulary vocabulary;
  vocabulary.chat_template = text;
  vocabulary.add_bos = add_bos;
  return vocabulary.file();
}

const std::vector<text::Message> kHello{{"user", "Hello"}};
const std::string kRendered = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n";

}  // namespace

TEST_CASE("plain ChatML is recognised, however its template is laid out") {
  const ChatTemplate chat(with_template(kPlain));
  CHECK(chat.name() == "chatml");
  CHECK(chat.render(kHello) == kRendered);
  const std::string spread =
      "{%- for message in messages %}\n"
      "    {{- \"<|im_start|>\" + message.role + \"\\n\" + message.content + \"<|im_end|>\" + "
      "\"\\n\" }}\n"
      "{%- endfor %}\n"
      "{%- if add_generation_prompt %}\n"
      "    {{- '<|im_start|>assistant\\n' }}\n"
      "{%- endif %}\n";
  CHECK(ChatTemplate(with_template(spread)).render(kHello) == kRendered);
}

TEST_CASE("a template that would print a blank more is not taken for its likeness") {
  const std::string spaced =
      kPlain.substr(0, kPlain.find("{% endfor")) + "\n" + kPlain.substr(kPlain.find("{% endfor"));
  CHECK_THROWS_AS(ChatTemplate(with_template(spaced)), InputError);
  std::string other = kPlain;
  other.replace(other.find("'\\n' + message"), 4, "'\\t'");
  CHECK_THROWS_AS(ChatTemplate(with_template(other)), InputError);
}

TEST_CASE("an unknown template is refused with the way to give one") {
  CHECK_THROWS_WITH(ChatTemplate(with_template("{{ thoughts }}")),
                    Contains("small.gguf") && Contains("model.chat_template") &&
                        Contains("chatml, qwen2.5, smollm2"));
  CHECK_THROWS_WITH(ChatTemplate(small_vocabulary()), Contains("holds no chat template"));
  CHECK_THROWS_WITH(ChatTemplate(small_vocabulary(), "nope"), Contains("'nope'"));
  for (const std::string broken : {"{%", "{{ '", "{% for", "{{", "{%-", "{{-}}", "{%%}", "{"})
    CHECK_THROWS_AS(ChatTemplate(with_template(broken)), InputError);
}

TEST_CASE("a template given by name replaces the model's own") {
  const ChatTemplate chat(with_template("{{ thoughts }}"), "smollm2");
  CHECK(chat.name() == "smollm2");
  CHECK(chat.render(kHello) ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n" +
            kRendered);
  CHECK(ChatTemplate(small_vocabulary(), "chatml").render(kHello) == kRendered);
}

TEST_CASE("of two beginnings of the sequence one remains") {
  const std::string printing = "{{ bos_token }}" + kPlain;
  CHECK(ChatTemplate(with_template(printing, true)).render(kHello) == kRendered);
  CHECK(ChatTemplate(with_template(printing, false)).render(kHello) == "<|endoftext|>" + kRendered);
}

TEST_CASE("what is no chat is refused") {
  const ChatTemplate chat(with_template(kPlain));
  CHECK_THROWS_WITH(chat.render({}), Contains("at least one message"));
  const std::vector<text::Message> odd{{"oracle", "x"}};
  CHECK_THROWS_WITH(chat.render(odd), Contains("'oracle'"));
}
