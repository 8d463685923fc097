// SPDX-License-Identifier: Apache-2.0
// All templates known here are ChatML and differ in what they say where no system message comes
// first. A template is recognised only if it is one of the forms below to the letter: one with
// other habits (thinking, dates) is refused, not guessed.
#include "text/chat_template.hpp"

#include <array>

#include "files/sha256.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "text/jinja_form.hpp"
#include "text/vocabulary_file.hpp"

namespace redline::text {
namespace {

struct Known {
  std::string_view name;
  std::optional<std::string_view> default_system;
};
constexpr std::array kKnown{
    Known{"chatml", std::nullopt},
    Known{"qwen2.5", "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."},
    Known{"smollm2", "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
};

// The forms, as canonical_template() spells them. \1 is any text: first the default system
// message, later branches for tools, which messages of ours never enter.
#define EACH "{%formessageinmessages%}"
#define SAY "{{'<|im_start|>'+message.role+'\n'+message.content+'<|im_end|>'+'\n'}}"
#define DEFAULT "{{'<|im_start|>system\n\1<|im_end|>\n'}}"
#define OPEN "{%ifadd_generation_prompt%}{{'<|im_start|>assistant\n'}}{%endif%}"
constexpr std::string_view kPlain = EACH SAY "{%endfor%}" OPEN;
constexpr std::string_view kDefaultInLoop =
    EACH "{%ifloop.firstandmessages[0].role!='system'%}" DEFAULT "{%endif%}" SAY "{%endfor%}" OPEN;
constexpr std::string_view kDefaultBeforeLoop =  // what follows the branch for tools
    "{%else%}{%ifmessages[0].role=='system'%}"
    "{{'<|im_start|>system\n'+messages[0].content+'<|im_end|>\n'}}"
    "{%else%}" DEFAULT "{%endif%}{%endif%}" EACH
    "{%if(message.role=='user')or(message.role=='system'andnotloop.first)"
    "or(message.role=='assistant'andnotmessage.tool_calls)%}" SAY
    "{%elifmessage.role=='assistant'%}\1{%endif%}{%endfor%}" OPEN;
#undef OPEN
#undef DEFAULT
#undef SAY
#undef EACH

// nullopt: of no known form. Else the default system message, if the template has one.
std::optional<std::optional<std::string>> recognise(std::string_view text) {
  if (match_form(kPlain, text)) return std::optional<std::string>();
  auto held = match_form(kDefaultInLoop, text);
  const std::size_t branch = text.find(kDefaultBeforeLoop.substr(0, kDefaultBeforeLoop.find('\1')));
  if (!held && text.starts_with("{%iftools%}") && branch != std::string_view::npos)
    held = match_form(kDefaultBeforeLoop, text.substr(branch));
  if (!held || held->front().find('\'') != std::string_view::npos) return std::nullopt;
  return std::optional(std::string(held->front()));
}

std::string known_names() {
  std::string names;
  for (const Known& known : kKnown) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

[[noreturn]] void refuse(const files::Gguf& model, const std::string& what) {
  throw InputError(model.path().string() + ": " + what +
                   "; name the one to use in the key model.chat_template (known are " +
                   known_names() + ")");
}

}  // namespace

ChatTemplate::ChatTemplate(const files::Gguf& model, std::string_view override_name)
    : source_(model.text("tokenizer.chat_template", "")) {
  if (!override_name.empty()) {
    for (const Known& known : kKnown) {
      if (known.name != override_name) continue;
      name_ = known.name;
      default_system_ = known.default_system;
      return;
    }
    refuse(model, "there is no chat template " + files::printable(override_name));
  }
  if (source_.empty()) refuse(model, "the file holds no chat template");
  std::string text = canonical_template(source_);
  constexpr std::string_view kBos = "{{bos_token}}";
  const bool prints_bos = text.starts_with(kBos);
  if (prints_bos) text.erase(0, kBos.size());
  const auto recognised = recognise(text);
  if (!recognised)
    refuse(model, "its chat template (sha256 " + sha256().substr(0, 12) +
                      "...) is of no form redline knows");
  default_system_ = *recognised;
  name_ = "chatml";
  for (const Known& known : kKnown)
    if (known.default_system && known.default_system == default_system_) name_ = known.name;
  if (prints_bos && !adds_bos(model)) {
    const VocabularyFile vocabulary(model);
    if (vocabulary.bos) bos_ = vocabulary.pieces[static_cast<std::size_t>(*vocabulary.bos)].bytes;
  }
}

std::string ChatTemplate::render(std::span<const Message> messages) const {
  if (messages.empty())
    throw InputError("a chat of no messages has no prompt; give at least one message");
  const auto say = [](std::string_view role, std::string_view content) {
    return std::string("<|im_start|>").append(role).append("\n").append(content) + "<|im_end|>\n";
  };
  std::string out = bos_;
  if (default_system_ && messages.front().role != "system") out += say("system", *default_system_);
  for (const Message& message : messages) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant")
      throw InputError("a chat message has the role " + files::printable(message.role) +
                       "; roles are system, user and assistant");
    out += say(message.role, message.content);
  }
  return out + "<|im_start|>assistant\n";
}

std::string ChatTemplate::sha256() const {
  return files::sha256_hex(std::as_bytes(std::span(source_)));
}

}  // namespace redline::text
