"""Step 4: one sandbox a member, created one after the other, each with one session that waits for messages."""

from __future__ import annotations

import re

import pytest

from kit import commands, membership
from pytest_amap.checks import unknown_6
from pytest_amap.commands import Command, Planned
from pytest_amap.evidence import chain
from pytest_amap.failures import StepFailed
from pytest_amap.host import identity, intents, sessions
from pytest_amap.host.lab import Lab, Member
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli, screen, text
from pytest_amap.steps.prepare import Profile

READY = "Ready"
_USER_NAMESPACES = re.compile(
    r"\b(setgroups|(new)?[ug]id[_ ]?map|user ?namespaces?|userns|unshare|CLONE_NEWUSER)\b", re.IGNORECASE
)


@pytest.fixture(scope="session")
def sandboxes(provider_profile: Profile, lab: Lab) -> Lab:
    """Step 4: create what is missing, recognise what is there, and wait for every session together."""
    created = []
    for member in lab.members:
        found = look(lab, member)
        if found is None:
            if not lab.options.acts_on(4):
                raise StepFailed(f"sandbox {member.name} is not there; run step 4 first")
            found = create(lab, member)
            created.append(member.name)
        lab.ids[member.name] = found.id
        if found.phase == "Stopped":
            restart(lab, member)
        elif found.phase in sessions.PHASE_OF_NO_RETURN:
            raise StepFailed(no_return(lab, member, found))
    for member in lab.members:
        settled(lab, member)
    if not created:
        lab.run.already["sandboxes"] = f"{', '.join(m.name for m in lab.members)} are there"
    return lab


@pytest.fixture(scope="session")
def sender(sandboxes: Lab) -> Member:
    """The member that may task."""
    return sandboxes.sender


@pytest.fixture(scope="session")
def receiver(sandboxes: Lab) -> Member:
    """The member that is tasked."""
    return sandboxes.receiver


def plan(lab: Lab) -> list[Planned]:
    planned: list[Planned] = []
    for member in lab.members:
        missing = f"if {member.name} is missing"
        planned += [
            lab.commands.get(member.name),
            unknown_6.page(lab).only(missing),
            unknown_6.page(lab, "<page token>").only("while the gateway names a next page"),
            creation(lab, member).only(missing),
            lab.commands.get(member.name).only(missing),
            lab.commands.start(member.name).only(f"if {member.name} is stopped"),
            member.sessions(),
            lab.commands.screen(member.name),
        ]
    return planned


def creation(lab: Lab, member: Member) -> Command:
    """The kit's own create command, run with the API key and no terminal; before step 3 it is rendered, not read."""
    path = lab.home.command(member.name)
    argv = (
        commands.parse(path.read_text())
        if path.is_file()
        else commands.create_argv(
            lab.fleet, member.name, home=lab.home, image=lab.options.image, restart_policy=lab.options.restart_policy
        )
    )
    return Command(
        (lab.options.openshell, *argv[1:]), f"create {member.name}", lab.options.deadlines.create, with_key=True
    )


def look(lab: Lab, member: Member) -> cli.Sandbox | None:
    """The member's sandbox, or None when a listing confirms that it is absent: a failing get alone never does."""
    ran = lab.host.run(lab.commands.get(member.name))
    found = ran.parsed(cli.sandbox)
    if isinstance(found, cli.Sandbox):
        return recognised(lab, member, found)
    if not absent(member, unknown_6.pages(lab)):
        raise StepFailed(
            f"whether sandbox {member.name} exists could not be told ({text.one_line(ran.said)}); look at the gateway"
        )
    if gone := identity.recorded(lab).get(member.name, ""):
        service = lab.run.facts.get("gateway_service", "not known")
        raise StepFailed(
            f"sandbox {member.name} ({gone}) was recorded and is gone: the gateway's state has changed (its service: "
            f"{service}), and what was seen before holds no more; {membership.ANEW}, and run again"
        )
    return None


def absent(member: Member, pages: tuple[Ran, ...]) -> bool:
    """Whether a whole listing, every page of it readable, does not name the member's sandbox."""
    read = [ran.parsed(cli.sandbox_list_json) for ran in pages]
    boxes = [box for page in read if isinstance(page, cli.SandboxList) for box in page.sandboxes]
    whole = all(isinstance(page, cli.SandboxList) for page in read) and not unknown_6.next_page(pages[-1])
    return whole and (member.name, member.lab.fleet.workspace) not in [(box.name, box.workspace) for box in boxes]


def recognised(lab: Lab, member: Member, found: cli.Sandbox) -> cli.Sandbox:
    """Ours only with the recorded id, or while an announcement of ours waits for its id."""
    shown_by_name(lab, member, found)
    recorded = identity.recorded(lab).get(member.name, "")
    announced = intents.load(lab.home.evidence, member.name)
    expected = recorded or (str(announced.get("id", "")) if announced else "")
    if expected and expected != found.id:
        raise StepFailed(
            f"ID mismatch: {member.name} is {found.id}, recorded is {expected}: a reused name is another sandbox; "
            f"{membership.ANEW}"
        )
    if not expected and announced is None:
        raise StepFailed(
            f"sandbox {member.name} ({found.id}) was not made by this suite; "
            "delete it yourself, or use another workspace"
        )
    if announced and not announced.get("id"):
        intents.write(lab.home.evidence, member.name, {**announced, "id": found.id})
    if announced and (changed := differences(lab, member, announced)):
        raise StepFailed(
            f"sandbox {member.name} was made from {changed}: what is seen in it says nothing about this one; delete it "
            f"yourself ({lab.commands.delete(member.name).shown()}), {membership.ANEW}, and run again"
        )
    return found


def shown_by_name(lab: Lab, member: Member, found: cli.Sandbox) -> None:
    if (found.name, found.workspace) != (member.name, lab.fleet.workspace):
        raise StepFailed(f"sandbox get {member.name} showed {found.workspace}/{found.name}; look at the gateway")


def differences(lab: Lab, member: Member, announced: dict[str, object]) -> str:
    """What a sandbox of ours was made from, where that is no longer what this run would make it from."""
    wanted = made_from(lab, member)
    kept = {"image": "another image", "command": "another create command"}
    return " and ".join(word for name, word in kept.items() if announced.get(name, wanted[name]) != wanted[name])


def made_from(lab: Lab, member: Member) -> dict[str, str]:
    """The image and the create command, by digest."""
    command = chain.digest("\0".join(creation(lab, member).argv).encode())
    return {"image": lab.run.facts.get("image", ""), "command": command}


def announce(lab: Lab, member: Member, sandbox_id: str = "") -> None:
    """Say on disk that this member's sandbox is ours, before it is made and again when its id is known."""
    about = {"kind": intents.MEMBER, "workspace": lab.fleet.workspace, "id": sandbox_id}
    intents.write(lab.home.evidence, member.name, about | made_from(lab, member))


def create(lab: Lab, member: Member) -> cli.Sandbox:
    """Create it, and read its state once whatever the command said: never create again blindly."""
    announce(lab, member)
    ran = lab.host.run(creation(lab, member))
    found = lab.host.run(lab.commands.get(member.name)).parsed(cli.sandbox)
    if not ran.ok and text.says(ran.stderr, "already exists"):
        intents.remove(lab.home.evidence, member.name)
        if not isinstance(found, Unreadable):
            raise StepFailed(
                f"a sandbox {member.name} was there when this suite made its own, so it is taken for somebody else's; "
                "delete it yourself, or use another workspace"
            )
    if isinstance(found, Unreadable) and ran.ok:
        raise StepFailed(
            f"sandbox {member.name} cannot be seen after a create that ended well ({found.why}); "
            "look at the gateway and run again"
        )
    if isinstance(found, Unreadable):
        raise StepFailed(
            f"sandbox {member.name} could not be created: {ran.told}; "
            f"mend that before any other member is made{hint(ran)}"
        )
    shown_by_name(lab, member, found)
    announce(lab, member, found.id)
    if found.phase in sessions.PHASE_OF_NO_RETURN:
        raise StepFailed(f"{no_return(lab, member, found)} (create said: {ran.told}){hint(ran)}")
    if not ran.ok and found.phase != READY:
        raise StepFailed(
            f"sandbox {member.name} is {found.state} after its create ({ran.told}); "
            f"wait until it is Ready and run again{hint(ran)}"
        )
    return found


def hint(ran: Ran) -> str:
    """What is known to help (field report A29): a host that keeps its users from making user namespaces."""
    if not _USER_NAMESPACES.search(text.one_line(f"{ran.stderr}\n{ran.stdout}")):
        return ""
    return "; this host may restrict user namespaces: look at sysctl kernel.apparmor_restrict_unprivileged_userns"


def no_return(lab: Lab, member: Member, found: cli.Sandbox) -> str:
    delete = lab.commands.delete(member.name).shown()
    return (
        f"sandbox {member.name} is {found.state} and will not come back; look at its log, "
        f"then delete it yourself: {delete}"
    )


def restart(lab: Lab, member: Member) -> None:
    if not lab.options.acts_on(4):
        raise StepFailed(f"sandbox {member.name} is stopped; run step 4 first")
    ran = lab.host.run(lab.commands.start(member.name))
    if not ran.ok:
        raise StepFailed(f"sandbox {member.name} is stopped and must start, saw {ran.told}; look at its log")


def settled(lab: Lab, member: Member) -> None:
    """Wait for the session, then look at its screen: what waits there for a person is a finding for D9.

    A session that is odd is for the checks to judge; one that cannot be asked fails the step.
    """
    waited = sessions.await_ready(lab, member, seconds=lab.options.deadlines.ready)
    if waited.value is None:
        box = lab.host.run(lab.commands.get(member.name)).parsed(cli.sandbox)
        if isinstance(box, cli.Sandbox) and box.phase in sessions.PHASE_OF_NO_RETURN:
            raise StepFailed(no_return(lab, member, box))
    ran = lab.host.run(lab.commands.screen(member.name))
    shown = lab.run.facts[f"first_run_{member.name}"] = on_screen(ran)
    attach = f"attach with 'openshell sandbox connect {member.name}': a first-run question there is a finding for D9"
    if screen.question(ran.stdout):
        lab.run.left.tell(f"{member.name} {shown}, and nothing was answered; {attach}")
    if waited.value is not None:
        return
    found = sessions.sessions(waited.last)
    if isinstance(found, Unreadable) or not found.rows:
        why = found.why if isinstance(found, Unreadable) else "no session is there"
        raise StepFailed(f"{waited.problem} ({why}); {member.name} {shown}; {attach}")
    odd = f"{len(found.rows)} sessions, not one with a socket and a key"
    lab.run.left.tell(f"{member.name} has {odd}: {waited.problem}; {member.name} {shown}; {attach}")


def on_screen(ran: Ran) -> str:
    """What a session's terminal shows, as its own doing; only a person answers what it asks."""
    if asked := screen.question(ran.stdout):
        return f"asks: {asked}"
    return "asks nothing" if screen.rows(ran.stdout) else f"has a screen that was not seen ({ran.said})"
