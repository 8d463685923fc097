# SPDX-License-Identifier: Apache-2.0
"""draft_pipe with its Python end: the example on the tiny model, a drafter that fails, a redline that is killed."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DRAFTER = """
import os
import redline_pipe
open("pid", "w").write(str(os.getpid()))
def draft(ask):
    {body}
redline_pipe.serve(draft)
"""


@pytest.fixture
def check(program, source, tmp_path):
    def run(*arguments, command=f"{sys.executable} {source}/plugins/draft_pipe/bigram.py", popen=False):
        line = [program, "check", "draft_pipe", "--set", f"command={command}", *arguments]
        env = os.environ | {"PYTHONPATH": str(source / "tools" / "analysis")}
        if popen:
            return subprocess.Popen(line, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
        return subprocess.run(line, cwd=tmp_path, env=env, text=True, capture_output=True)
    return run


def script(folder, body):
    path = folder / "drafter.py"
    path.write_text(DRAFTER.format(body=body))
    return f"{sys.executable} {path}"


@pytest.mark.parametrize("mode", ["delta", "row"])
def test_the_example_writes_the_text_of_plain_decoding_at_temperature_0(check, mode):
    done = check("--model", "tiny", "--tokens", "1000", "--temperature", "0", "--set", f"mode={mode}")
    assert done.returncode == 0 and "as plain decoding's" in done.stdout, done.stdout + done.stderr


def test_rows_of_the_example_leave_the_law_of_the_text_alone(check):
    done = check("--model", "tiny", "--tokens", "4000", "--set", "mode=row")
    assert done.returncode == 0 and "as plain decoding's" in done.stdout, done.stdout + done.stderr
    kept = float(done.stdout.split(" kept a drafting step")[0].split()[-1])
    assert kept > 0.05  # it does draft


@pytest.mark.parametrize("body, said", [
    ("raise ValueError('my own fault')", "my own fault"),
    ("return [0] * (ask.max_nodes + 1)", "5 tokens given, at most 4 fit")])
def test_a_drafter_that_fails_says_why_and_costs_the_drafts_alone(check, tmp_path, body, said):
    done = check("--model", "tiny", "--tokens", "200", command=script(tmp_path, body))
    assert done.returncode == 0 and "0.000 kept" in done.stdout, done.stdout
    assert said in done.stderr


def test_trees_are_given_as_parents_and_tokens(check, tmp_path):
    body = "return [0] * ask.max_nodes, range(ask.max_nodes)"
    done = check("--model", "tiny", "--tokens", "200", "--temperature", "0", "--set", "tree=true",
                 command=script(tmp_path, body))
    assert done.returncode == 0 and "as plain decoding's" in done.stdout, done.stdout + done.stderr
    assert "ValueError" not in done.stderr


def test_a_check_of_no_command_says_what_is_missing(check):
    done = check(command="")
    assert done.returncode == 1 and "command is empty; name what gives the drafts" in done.stdout


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_hanging_drafter_ends_when_redline_is_killed(check, tmp_path):
    command = script(tmp_path, "open('asked', 'w')\n    while True: pass")
    run = check("--model", "tiny", "--set", "limit_s=600", command=command, popen=True)
    assert until((tmp_path / "asked").exists)
    drafter = int((tmp_path / "pid").read_text())
    assert is_running(drafter)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert until(lambda: not is_running(drafter))
