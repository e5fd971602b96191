"""Fixtures of the L1 suite: setup steps, the two ends of its task edge, and `check`, a name that others use, too."""

from pytest_amap.session.check import check
from pytest_amap.steps.delegating import delegation
from pytest_amap.steps.gateway import gateway, posture
from pytest_amap.steps.image import agent_image
from pytest_amap.steps.prepare import prepared_host, provider_profile
from pytest_amap.steps.prerequisites import lab, prerequisites
from pytest_amap.steps.recording import membership
from pytest_amap.steps.refused import refused
from pytest_amap.steps.routing import router
from pytest_amap.steps.sandboxes import receiver, sandboxes, sender

__all__ = [
    "agent_image",
    "check",
    "delegation",
    "gateway",
    "lab",
    "membership",
    "posture",
    "prepared_host",
    "prerequisites",
    "provider_profile",
    "receiver",
    "refused",
    "router",
    "sandboxes",
    "sender",
]
