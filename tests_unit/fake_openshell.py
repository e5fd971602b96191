"""A small OpenShell that keeps its state in memory, behind the real doorway to the host: nothing is started."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from receiver_samples import ROW
from request_samples import AT, N1, outcome, placed, result
from scripted_lab import scripted_lab

from kit import commands as kit_commands
from kit import policy
from kit.home import Home
from kit.names import RunAs
from pytest_amap import probes
from pytest_amap.commands import Command
from pytest_amap.host.lab import LISTER, SANDBOX_HOME, Lab
from pytest_amap.observations import Ran

PAYLOAD = '{"crossSessionInbound": "accept"}'


@dataclass
class Box:
    id: str
    phase: str = "Ready"
    labels: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    coming: list[str] = field(default_factory=list)
    """Phases that it passes through, one a look."""
    since: int = 700
    """When its main process started."""


@dataclass
class FakeOpenShell:
    """Sandboxes by name; the attributes below `boxes` plant one defect each. `ran` are the verbs, in order."""

    home: Home
    boxes: dict[str, Box] = field(default_factory=dict)
    create_fails: str = ""
    create_is_somebody_elses: bool = False
    create_is_cut_off: bool = False
    delete_fails: bool = False
    state_is_lost: bool = False
    never_ready: bool = False
    ignores_setting: bool = False
    never_restarts: bool = False
    late: dict[str, Box] = field(default_factory=dict)
    submitted: int = 0
    waiting: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    keyed: list[str] = field(default_factory=list)
    argvs: list[tuple[str, ...]] = field(default_factory=list)

    def look(self, command: Command) -> Ran:
        words = list(command.argv)
        self.argvs.append(command.argv)
        if words[0] == "docker":
            return self.said("running\n" if "inspect" in words else "c1\n")
        words = words[words.index("default") + 1 :] if words[1:3] == ["--workspace", "default"] else words[1:]
        verb = " ".join(words[:2])
        self.ran.append(verb)
        if command.with_key:
            self.keyed.append(verb)
        return getattr(self, verb.split()[1])(words)

    def said(self, stdout: str = "", exit: int = 0, stderr: str = "") -> Ran:
        return Ran(("openshell",), exit, stdout, stderr, AT, AT)

    def get(self, words: list[str]) -> Ran:
        box = self.boxes.get(words[2])
        if box is None:
            return self.said(exit=1, stderr="Error:   × sandbox not found\n")
        if "--policy-only" in words:
            return self.said("version: 1\n")
        if box.coming:
            box.phase = box.coming.pop(0)
        told = {"id": box.id, "name": words[2], "workspace": "default", "phase": box.phase, "labels": box.labels}
        return self.said(json.dumps(told))

    def list(self, words: list[str]) -> Ran:
        return self.said("".join(f"default/{name}\n" for name in self.boxes))

    def create(self, words: list[str]) -> Ran:
        name = words[words.index("--name") + 1]
        labels = dict([words[words.index("--label") + 1].split("=")]) if "--label" in words else {}
        if self.create_is_somebody_elses:
            labels = {}
        if self.create_is_cut_off:
            self.late = {name: Box("id-late", "Ready", labels)}
            return Ran(("openshell",), None, "", "", AT, AT, timed_out=True)
        if self.create_fails != "refused":
            self.boxes[name] = Box("id-new", "Error" if self.create_fails else "Ready", labels)
        return self.said(exit=1, stderr=f"Error:   × {self.create_fails}\n") if self.create_fails else self.said()

    def delete(self, words: list[str]) -> Ran:
        if self.delete_fails:
            return self.said(exit=1, stderr="Error:   × the gateway is busy\n")
        del self.boxes[words[2]]
        return self.said()

    def stop(self, words: list[str]) -> Ran:
        self.boxes[words[2]].phase = "Stopped"
        return self.said()

    def start(self, words: list[str]) -> Ran:
        box = self.boxes[words[2]]
        box.phase = "Ready"
        if self.never_restarts:
            return self.said()
        box.since += 100
        if self.state_is_lost:
            box.files.clear()
        if not self.refuses(box):
            for notice in self.waiting:
                self.append(notice, "delivered")
            self.waiting.clear()
        return self.said()

    def refuses(self, box: Box) -> bool:
        return bool(box.files) and not self.ignores_setting

    def exec(self, words: list[str]) -> Ran:
        box = self.boxes[words[words.index("--name") + 1]]
        if box.phase != "Ready":
            return self.said(exit=1, stderr=f"Error:   × sandbox is not ready (phase: {box.phase})\n")
        inner = words[words.index("--") + 1 :]
        if "submit" in inner:
            return self.submit()
        if "submit-result" in inner:
            return self.said(json.dumps(result("accepted", "peer_routed", N1, inner[-1])))
        return self.probe(box, inner)

    def submit(self) -> Ran:
        """Each request has the next id and notice, from 00000007 and N1 on."""
        request, notice = f"{7 + self.submitted:08}", f"{int(N1, 16) + self.submitted:x}"
        self.submitted += 1
        refused = self.refuses(self.boxes["beta"])
        self.append(notice, "held" if refused else "delivered", request)
        if refused:
            self.waiting.append(notice)
        return self.said(f"Submitted request {request} to the relay drop-box x\n")

    def probe(self, box: Box, inner: list[str]) -> Ran:
        program, arguments = inner[:4], inner[4:]
        if program == [*probes.sessions(LISTER, SANDBOX_HOME)[:4]]:
            return self.answer(main=2, since=str(box.since), rows=[] if self.never_ready else [ROW])
        path, text = arguments[0], arguments[1] if len(arguments) > 1 else ""
        there = box.files.get(path)
        state = "absent" if there is None else "ours" if there == text else "other"
        if program == [*probes.state("", "")[:4]]:
            return self.answer(state=state)
        if program == [*probes.put("", "")[:4]]:
            box.files[path] = text
            return self.answer(errno=None)
        if program == [*probes.take_back("", "")[:4]]:
            if state == "ours":
                del box.files[path]
            return self.answer(state="other" if state == "other" else "absent")
        if program == [*probes.names_in("")[:4]]:
            return self.answer(errno="EACCES" if path.endswith("peer") else None, names=["notices"], permitted=True)
        looks: dict[str, dict[str, object]] = {
            probes.read("")[3]: {"errno": None, "text": PAYLOAD},
            probes.append("")[3]: {"errno": "EROFS", "exists": True},
            probes.directory("")[3]: {"errno": None, "entries": [], "writable": None},
            probes.turns("", "")[3]: {"files": 1, "found": [{"type": "user", "role": "user", "tool": False}]},
        }
        return self.answer(**looks[program[3]])

    def answer(self, **found: object) -> Ran:
        return self.said(probes.MARK + json.dumps(found) + "\n")

    def log_file(self, member: str) -> Path:
        return self.home.router_state / member / "audit" / "log.jsonl"

    def append(self, notice: str, word: str, request: str = "") -> None:
        """The router places the notice once, and takes the receiver's outcome in."""
        path = self.log_file("beta")
        for member in ("alpha", "beta"):
            self.log_file(member).parent.mkdir(parents=True, exist_ok=True)
            self.log_file(member).touch()
        line = placed(notice, "alpha", "beta", request) if request else ""
        detail = "receiver refuses: crossSessionInbound is not `accept`" if word == "held" else ""
        with path.open("a") as file:
            file.write(line + outcome(notice, word, detail))


def lab_with_openshell(tmp_path: Path, *, label: bool = True) -> tuple[Lab, FakeOpenShell]:
    """A prepared home of alpha and beta with a run open in it; the members' sandboxes are Ready."""
    lab, host = scripted_lab(tmp_path, {})
    for path in (lab.home.policies, lab.home.commands):
        path.mkdir(parents=True)
    argv = kit_commands.create_argv(lab.fleet, "alpha", home=lab.home, image="amap-openshell-agent")
    lab.home.command("alpha").write_text(kit_commands.render(argv))
    lab.home.policy("alpha").write_text(policy.render(RunAs(1000, 1000)))
    lab.label_flag = label
    fake = FakeOpenShell(lab.home, {"alpha": Box("id-1"), "beta": Box("id-2")})
    host.answers[""] = fake.look
    return lab, fake
