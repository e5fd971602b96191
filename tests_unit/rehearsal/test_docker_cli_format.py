"""The `docker` stand-in's Go templates and flags."""

from __future__ import annotations

import pytest

from pytest_amap.rehearsal.docker import flags, template
from pytest_amap.rehearsal.docker.errors import DockerError

DATA = {
    "Name": "/alpha",
    "Config": {"User": "1000:1000", "Labels": {"a.b/c": "x"}},
    "State": {"ExitCode": 0, "Running": True},
    "Mounts": [{"Source": "/a", "RW": True}, {"Source": "/b", "RW": False}],
    "Empty": [],
    "Label": lambda key: f"label {key}",
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{.Config.User}}", "1000:1000"),
        ("{{ .State.ExitCode }}", "0"),
        ("{{.State.Running}}", "true"),
        ("{{json .Config.Labels}}", '{"a.b/c":"x"}'),
        ("{{json .Empty}}", "[]"),
        ('{{index .Config.Labels "a.b/c"}}', "x"),
        ('{{index .Config.Labels "none"}}', ""),
        ('{{.Label "k"}}', "label k"),
        ("{{range .Mounts}}{{.Source}} {{.RW}};{{end}}", "/a true;/b false;"),
        ("{{range .Empty}}x{{end}}", ""),
        ("{{println .Name}}", "/alpha\n"),
        ("{{range .Mounts}}{{.Source}}{{println}}{{end}}", "/a\n/b\n"),
        ("{{.Config.Labels}}", "map[a.b/c:x]"),
        ("{{.Empty}}", "[]"),
        ("plain", "plain"),
    ],
)
def test_renders_as_go_does(source: str, text: str) -> None:
    assert template.render(source, DATA) == text


@pytest.mark.parametrize(
    "source",
    ["{{.None}}", "{{.Name", "{{range .Mounts}}x", "{{end}}", "{{nothing .Name}}", "{{$x}}", "{{}}", "{{index .Name}}"],
)
def test_what_cannot_be_rendered_is_an_error(source: str) -> None:
    with pytest.raises(template.TemplateError):
        template.render(source, DATA)


def test_flags_in_every_spelling() -> None:
    words = ["-it", "--name", "x", "-e", "A=1", "-eB=2", "--rm", "image", "-c", "y"]
    found = flags.read(words, "name e/env", "i/interactive t/tty rm", stop_at_word=True)
    assert found.words == ["image", "-c", "y"]
    assert found.all("env") == ["A=1", "B=2"]
    assert found.has("rm")
    assert found.has("interactive")
    assert found.has("tty")


def test_flags_behind_words_where_docker_takes_them() -> None:
    found = flags.read(["alpha", "--tail=5"], "n/tail", "")
    assert (found.words, found.last("tail")) == (["alpha"], "5")


@pytest.mark.parametrize("words", [["--nonsense"], ["--name"]])
def test_flags_that_are_refused(words: list[str]) -> None:
    with pytest.raises(DockerError):
        flags.read(words, "name", "")
