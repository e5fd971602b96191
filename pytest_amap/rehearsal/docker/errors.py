"""What the docker client says when something went wrong, and its exit code."""

from __future__ import annotations


class DockerError(Exception):
    """The text goes to stderr as it stands; 125 is the client's code for a run that never began."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


def no_such_object(name: str) -> DockerError:
    return DockerError(f"Error: No such object: {name}")


def no_such_container(name: str) -> DockerError:
    return DockerError(f"Error response from daemon: No such container: {name}")
