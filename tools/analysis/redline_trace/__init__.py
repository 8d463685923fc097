# SPDX-License-Identifier: Apache-2.0
"""Reads redline traces (docs/traces.md): table(path, "steps") is a pandas frame."""
from redline_trace.read import attributes, files, labelled, open_trace, table, tokens
from redline_trace.summary import recompute

__all__ = ["attributes", "files", "labelled", "open_trace", "recompute", "table", "tokens"]
