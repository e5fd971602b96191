#!/usr/bin/python3
"""The package managers and account tools of a build, as far as a recipe can tell: called by the name they stand for.

npm "installs" the one package the rehearsal has, as the scripts that stand for it; accounts really are written to the
image's /etc; apt and chown have nothing to do, since the host's /usr is the image's and all files have one owner.
"""

from __future__ import annotations

import os
import re
import shutil
import sys

LOCAL = "/usr/local"
PACKAGE = LOCAL + "/lib/node_modules/@anthropic-ai/claude-code"


def npm(words: list[str]) -> None:
    wanted = [re.fullmatch(r"@anthropic-ai/claude-code(?:@(.+))?", word) for word in words]
    for match in filter(None, wanted):
        if not re.fullmatch(r"\d+\.\d+\.\d+", match[1] or ""):
            sys.exit(f"npm error notarget No matching version found for @anthropic-ai/claude-code@{match[1]}.")
        os.makedirs(PACKAGE + "/bin", exist_ok=True)
        shutil.copy("/.rehearsal/agent/claude", PACKAGE + "/bin/claude.exe")
        os.makedirs(LOCAL + "/bin", exist_ok=True)
        link = LOCAL + "/bin/claude"
        if not os.path.lexists(link):
            os.symlink("../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", link)
        with open(LOCAL + "/lib/rehearsal/claude-version", "w") as stream:
            stream.write(match[1] + "\n")
        print("added 2 packages")


def groupadd(words: list[str]) -> None:
    name, options = _account(words)
    gid = options.get("--gid", options.get("-g", "1000"))
    _append("group", f"{name}:x:{gid}:\n")


def useradd(words: list[str]) -> None:
    name, options = _account(words)
    uid = options.get("--uid", options.get("-u", "1000"))
    if _find("passwd", 2, uid) and not {"-o", "--non-unique"} & set(words):
        sys.exit(f"useradd: UID {uid} is not unique")
    gid = options.get("--gid", options.get("-g", uid))
    home = options.get("--home-dir", options.get("-d", "/home/" + name))
    shell = options.get("--shell", options.get("-s", "/bin/sh"))
    _append("passwd", ":".join((name, "x", uid, gid, "", home, shell)) + "\n")


def userdel(words: list[str]) -> None:
    _remove("passwd", words[-1])


def groupdel(words: list[str]) -> None:
    _remove("group", words[-1])


def install(words: list[str]) -> None:
    """The real one, without the ownership that a build with one uid cannot give."""
    kept, skip = [], False
    for word in words:
        if skip or word.startswith(("--owner=", "--group=")):
            skip = False
        elif word in ("-o", "-g", "--owner", "--group"):
            skip = True
        else:
            kept.append(word)
    os.execv("/usr/bin/install", ["install", *kept])


def nothing(words: list[str]) -> None:
    """Nothing to do here."""


def _account(words: list[str]) -> tuple[str, dict[str, str]]:
    """The account's name, and the options with their values (`--uid 1000` and `--uid=1000`)."""
    options: dict[str, str] = {}
    name, waiting = "", ""
    for word in words:
        if waiting:
            options[waiting], waiting = word, ""
        elif word.startswith("--") and "=" in word:
            key, _, value = word.partition("=")
            options[key] = value
        elif word in ("-u", "-g", "-d", "-s", "-c", "--uid", "--gid", "--home-dir", "--shell", "--comment"):
            waiting = word
        elif not word.startswith("-"):
            name = word
    return name, options


def _find(table: str, column: int, value: str) -> bool:
    with open("/etc/" + table) as stream:
        return any(line.rstrip("\n").split(":")[column] == value for line in stream)


def _append(table: str, line: str) -> None:
    name = line.split(":")[0]
    if _find(table, 0, name):
        sys.exit(f"{os.path.basename(sys.argv[0])}: '{name}' already exists")
    with open("/etc/" + table, "a") as stream:
        stream.write(line)


def _remove(table: str, name: str) -> None:
    if not _find(table, 0, name):
        sys.exit(f"{os.path.basename(sys.argv[0])}: '{name}' does not exist")
    with open("/etc/" + table) as stream:
        kept = [line for line in stream if line.split(":")[0] != name]
    with open("/etc/" + table, "w") as stream:
        stream.writelines(kept)


TOOLS = {
    "npm": npm,
    "groupadd": groupadd,
    "useradd": useradd,
    "userdel": userdel,
    "groupdel": groupdel,
    "install": install,
    "apt-get": nothing,
    "apt": nothing,
    "chown": nothing,
    "pip": nothing,
    "pip3": nothing,
}

if __name__ == "__main__":
    TOOLS[os.path.basename(sys.argv[0])](sys.argv[1:])
