"""The two files the router reads: its configuration, and the host's verdict about who is admitted."""

from __future__ import annotations

from kit import jsontext
from kit.files import Wanted, directory, document
from kit.fleet import Fleet
from kit.home import Home


def files(home: Home, fleet: Fleet) -> tuple[Wanted, ...]:
    """What the router needs, in the order in which it is written."""
    return (
        directory(home.router_state, 0o700),
        document(home.router, config(home, fleet)),
        document(home.selected, verdict(fleet)),
    )


def config(home: Home, fleet: Fleet) -> str:
    """router.json in discovery mode; the router refuses unknown keys, so there are no others."""
    document: dict[str, object] = {
        "state_dir": str(home.router_state),
        "instances_dir": str(home.instances),
        "selected_json": str(home.selected),
        "fleet_domain": fleet.domain,
    }
    if fleet.tasks_all:
        document["task_graph"] = "all"
    else:
        document["peer_senders"] = {recipient: list(senders) for recipient, senders in fleet.task_graph.items()}
    peers = {name: list(listed) for name, listed in fleet.mail.items() if listed}
    if peers:
        document["peers"] = peers
    return jsontext.render(document)


def verdict(fleet: Fleet) -> str:
    """selected.json: every member admitted. No id and no time, so that the same fleet gives the same bytes."""
    selected = [{"slug": name} for name in fleet.members]
    return jsontext.render({"schema": 1, "selected": selected, "not_selected": []})
