# SPDX-License-Identifier: Apache-2.0
"""Prompts of public data sets, each its own shape, as the items redline reads."""
import json


def messages(record):
    """The chat that asks a model what the record asks."""
    if "messages" in record:
        return record["messages"]
    if "function" in record:  # BFCL: a question and the functions that may be called
        functions = "\n".join(json.dumps(function) for function in record["function"])
        rules = (f"You may call this function:\n{functions}\nAnswer with one JSON object, "
                 '{"name": ..., "arguments": {...}}, and nothing else.')
        return [{"role": "system", "content": rules}, *record["question"][0]]
    if "turns" in record:  # MT-Bench: the first turn
        return [{"role": "user", "content": record["turns"][0]}]
    if "prompt" in record:  # HumanEval: the head of a function
        asks = "Complete this Python function. Answer with the whole function in one code block."
        return [{"role": "user", "content": f"{asks}\n\n```python\n{record['prompt'].rstrip()}\n```"}]
    raise ValueError(f"a record with {', '.join(record)}: expected messages, function, turns or prompt")


def items(path, name, limit):
    """The first `limit` items of a file of JSON lines."""
    with open(path, encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(limit))]
    return [{"id": f"{name}-{k:03}", "category": name, "messages": messages(record)} for k, record in enumerate(records)]
