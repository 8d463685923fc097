# SPDX-License-Identifier: Apache-2.0
"""A project of each kind from `redline new`: built against an installation, tested, checked and run, one command each."""
import os
import subprocess
import time
from pathlib import Path

import pytest

KINDS = ["drafter", "rule", "sampler", "length"]
CACHE = Path(os.environ.get("REDLINE_CACHE", Path.home() / ".cache" / "redline"))
SMOLLM2 = CACHE / "models" / "smollm2-135m-instruct-q4_1.gguf"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "REDLINE_PLUGIN_PATH"}


def run(*command, cwd, code=0):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build, "--prefix", folder, cwd=folder)
    return folder


def made(kind, prefix, folder):
    run(prefix / "bin/redline", "new", kind, f"my_{kind}", cwd=folder)
    project = folder / f"my_{kind}"
    run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
        cwd=project)
    run("cmake", "--build", "build", cwd=project)
    return project


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_project_builds_and_passes_its_tests_the_check_and_an_experiment(kind, prefix, tmp_path):
    project, name = made(kind, prefix, tmp_path), f"my_{kind}"
    assert {f.name for f in project.iterdir() if f.is_file()} == {
        f"{name}.cpp", f"{name}_test.cpp", "CMakeLists.txt", "experiment.yaml", "prompts.jsonl", "README.md"}
    said = run("ctest", "--test-dir", "build", cwd=project)
    for test in ("loads", "test", "check"):
        assert f"{name}.{test}" in said
    redline = prefix / "bin/redline"
    assert " checks, 0 failed" in run(redline, "check", f"build/{name}.so", cwd=project)
    assert name in run(redline, "run", "experiment.yaml", "--dry-run", cwd=project)
    if not SMOLLM2.exists():
        pytest.skip("all but the run itself: SmolLM2 is not fetched")
    table = run(redline, "run", "experiment.yaml", "generate.max_tokens=6", cwd=project)
    assert "mine" in table or "ngram" in table
    assert not list(project.glob("**/FAILED"))


def test_the_projects_own_test_fails_when_the_idea_is_broken(prefix, tmp_path):
    project = made("rule", prefix, tmp_path)
    source = project / "my_rule.cpp"
    source.write_text(source.read_text().replace("owed = owed.residual(q);", ""))
    begin = time.monotonic()
    run("cmake", "--build", "build", cwd=project)
    said = run(prefix / "bin/redline", "check", "build/my_rule.so", cwd=project, code=1)
    print(f"from an edited source to the result of a quick check: {time.monotonic() - begin:.1f} s")
    assert "first-token law: off by TV" in said
    assert "then p - q owes the other token alone" in run("./build/my_rule_test", cwd=project, code=1)


@pytest.mark.parametrize("arguments, says", [
    (["rule", "accept_ratio"], "a plugin 'accept_ratio' is there already"),
    (["rule", "My_Rule"], "'My_Rule' is no plugin name"),
    (["rule", "../up"], "'../up' is no plugin name"),
    (["rule", "2nd"], "'2nd' is no plugin name"),
    (["rule", "test"], "'test' is a target"),
    (["opinion", "mine"], "opinion"),
])
def test_what_cannot_be_made_is_refused_and_leaves_nothing(arguments, says, prefix, tmp_path):
    assert says in run(prefix / "bin/redline", "new", *arguments, cwd=tmp_path, code=2)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_left_alone(prefix, tmp_path):
    (tmp_path / "mine").mkdir()
    assert "exists already" in run(prefix / "bin/redline", "new", "rule", "mine", cwd=tmp_path, code=2)
    assert not list((tmp_path / "mine").iterdir())
