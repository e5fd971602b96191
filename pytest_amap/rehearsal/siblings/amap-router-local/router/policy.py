"""May this request travel, and where to: the graph decides a new task, the ledger decides a reply."""

from __future__ import annotations

import calendar
import logging
import re
import time
from dataclasses import dataclass

from .config import Config
from .discovery import Instance
from .documents import Answer, held, rejected
from .request import Refused, Request
from .state import State

log = logging.getLogger("amap_router_local.outbound")

_REPLY_KEY = re.compile(r"[A-Za-z0-9._-]{1,128}")


@dataclass(frozen=True)
class Route:
    """Where a permitted request goes, and why it may."""

    tree: str  # "peer" or "inbox"
    recipients: tuple[Instance, ...]
    reason: str
    in_reply_to: str | None = None
    reply_basis: str | None = None


def decide(request: Request, sender: str, config: Config, admitted: dict[str, Instance], state: State) -> Route:
    """The route of a request, or Refused with its answer."""
    if request.reply_to is not None:
        return _reply(request, sender, config, admitted, state)
    return _cold(request, sender, config, admitted, state)


def _cold(request: Request, sender: str, config: Config, admitted: dict[str, Instance], state: State) -> Route:
    by_address = {config.address(name).lower(): instance for name, instance in admitted.items()}
    unique = {address.lower(): None for address in (*request.to, *request.cc)}
    unknown = [address for address in unique if address not in by_address]
    if unknown:
        raise Refused(rejected("recipient_unknown", f"no admitted instance has the address {unknown[0]}"))
    recipients = tuple(by_address[address] for address in unique)
    if any(instance.name == sender for instance in recipients):
        raise Refused(rejected("self_send"))
    if any(config.may_task(sender, instance.name) for instance in recipients):
        if len(recipients) != 1 or request.cc:
            names = [instance.name for instance in recipients]
            _audit_refusal(state, request, "peer_single_recipient", names)
            raise Refused(rejected("peer_single_recipient", "a task goes to exactly one recipient, without cc"))
        return Route("peer", recipients, "peer_routed")
    if all(config.may_mail(sender, instance.name) for instance in recipients):
        return Route("inbox", recipients, "allowlisted")
    raise Refused(held("recipient_not_allowlisted"))


def _reply(request: Request, sender: str, config: Config, admitted: dict[str, Instance], state: State) -> Route:
    key = request.reply_to or ""
    record = state.delivered(key) if _REPLY_KEY.fullmatch(key) else None
    origin = record.get("from_instance") if record else None
    if record is None or not isinstance(origin, str):
        raise Refused(rejected("unresolved_reply", "no notice of that id was delivered to this instance"))
    if request.to or request.cc:
        log.warning(
            "instance %r: request %s replies to %s: to and cc are discarded, the reply is bound to %r",
            sender, request.req_id, key, origin,
        )  # fmt: skip
    bound = admitted.get(origin)
    if bound is None:
        raise Refused(rejected("recipient_unknown", "the instance this reply is bound to is no longer admitted"))
    if record.get("tree") != "peer":
        return Route("inbox", (bound,), "recipient_bound", key)
    if config.may_task(sender, origin):
        return Route("peer", (bound,), "peer_routed", key, "edge")
    if _age(record.get("ts")) > config.limits["peer_reply_window_seconds"]:
        _audit_refusal(state, request, "peer_reply_window_expired", [origin])
        raise Refused(rejected("peer_reply_window_expired", "the delegation is older than the reply window"))
    return Route("peer", (bound,), "peer_routed", key, "reply_window")


def _audit_refusal(state: State, request: Request, reason: str, recipients: list[str]) -> None:
    state.audit(
        "peer_refused",
        req_id=request.req_id,
        reason_code=reason,
        recipients=recipients,
        in_reply_to=request.reply_to,
    )


def _age(stamp: object) -> float:
    """Seconds since a Z stamp; endless where it cannot be read, so that a broken record opens no window."""
    try:
        return time.time() - calendar.timegm(time.strptime(str(stamp), "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return float("inf")


def failed(recipients: tuple[Instance, ...], causes: list[BaseException]) -> Answer:
    """No placement worked; the detail names the instance and the kind of exception, nothing else."""
    detail = "; ".join(f"{i.name}: {type(cause).__name__}" for i, cause in zip(recipients, causes))  # noqa: B905 - 3.9
    return held("delivery_failed", detail, recipients=[])
