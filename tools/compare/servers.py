# SPDX-License-Identifier: Apache-2.0
"""The two that are compared, as processes that stay loaded and time what a line asks for."""
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class NotThere(Exception):
    """Why one of the two cannot be asked."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


class Server:
    """A process that says what it is, then answers each line with a line of JSON."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.about = self.read()

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.read()
        if "error" in answer:
            raise NotThere(answer["error"])
        return answer

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise NotThere(last_line(self.process.communicate()[1]))
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close(), self.process.stderr.close()


class Redline:
    """How our side is started."""

    def __init__(self, program, threads):
        self.program, self.threads = program, threads

    def forwards(self, model, context, widest=16, flags=()):
        return Server([self.program, "bench", "forward", model, "--serve", "--context", context, "--rows", widest,
                       "--threads", self.threads, *flags])

    def run(self, *arguments):
        ran = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        if ran.returncode != 0:
            raise NotThere(f"{self.program} {' '.join(map(str, arguments))}: {ran.stderr.strip()}")
        return ran.stdout


class LlamaCpp:
    """How the peer is started: the Python package's calls, with the package's own library or that of `build`."""

    def __init__(self, python, build, threads):
        self.python, self.build, self.threads = python or sys.executable, build, threads

    def environment(self):
        return os.environ | ({"LLAMA_CPP_LIB_PATH": str(self.build / "bin")} if self.build else {})

    def why_not(self):
        """Why it is not there; empty when it is."""
        try:
            tried = subprocess.run([self.python, "-c", "import llama_cpp"], env=self.environment(), capture_output=True,
                                   text=True)
        except OSError as error:
            return str(error)
        return "" if tried.returncode == 0 else last_line(tried.stderr)

    def forwards(self, model, context, sequences=1):
        return Server([self.python, HERE / "llama_server.py", model, "--threads", self.threads, "--context", context,
                       "--sequences", sequences], self.environment())

    def speculative(self):
        """The program that decodes speculatively, or nothing."""
        program = self.build / "bin" / "llama-speculative-simple" if self.build else None
        return program if program and program.exists() else None
