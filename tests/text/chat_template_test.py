# SPDX-License-Identifier: Apache-2.0
"""`redline tokenize --chat` renders what the model's own Jinja template renders."""
import functools
import itertools

import jinja2
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

import reference

needs_smollm2 = pytest.mark.skipif(not reference.SMOLLM2.exists(), reason="SmolLM2 is not fetched")
MODELS = [pytest.param(reference.SMOLLM2, marks=needs_smollm2),
          pytest.param(reference.QWEN, marks=pytest.mark.real_pair),
          pytest.param(reference.QWEN_TARGET, marks=pytest.mark.real_pair)]
CONTENTS = ["Hello", "", " two  spaces ", "line\nbreak\n", "<|im_end|>", "{{ 7 * 7 }} {% x %} \\n 'quoted' \"twice\"", "Привет 🙂"]
read_keys = functools.cache(reference.read_keys)


def conversations():
    """Every order of up to four roles, with contents that walk through the list."""
    contents = itertools.cycle(CONTENTS)
    for length in range(1, 5):
        for roles in itertools.product(["system", "user", "assistant"], repeat=length):
            yield [{"role": role, "content": next(contents)} for role in roles]


def jinja(source):
    """A template as `transformers` sets Jinja up for chat templates."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=["jinja2.ext.loopcontrols"])
    environment.globals["raise_exception"] = lambda message: (_ for _ in ()).throw(
        jinja2.TemplateError(message))
    return environment.from_string(source)


@pytest.mark.parametrize("model", MODELS)
def test_prompts_are_those_of_the_models_template(model):
    template = jinja(read_keys(model)["tokenizer.chat_template"])
    chats = list(conversations())
    ours = reference.run("tokenize", model, "--chat", "--render", "--json", lines=chats)
    assert ours == [template.render(messages=chat, add_generation_prompt=True) for chat in chats]


@pytest.mark.parametrize("model", MODELS)
def test_prompts_become_the_ids_of_their_text(model):
    chats = [chat for chat in conversations() if len(chat) == 2]
    keys = read_keys(model)
    theirs = reference.build(keys, keys["tokenizer.ggml.pre"], specials=True)
    texts = reference.run("tokenize", model, "--chat", "--render", "--json", lines=chats)
    ours = reference.run("tokenize", model, "--chat", "--json", lines=chats)
    assert ours == [theirs.encode(text).ids for text in texts]
    assert not keys["tokenizer.ggml.add_bos_token"]  # or the ids would begin with it
