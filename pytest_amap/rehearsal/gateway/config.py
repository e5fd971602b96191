"""gateway.toml, schema 2: what the gateway accepts and what it takes from it."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from .. import layout

RIGHT = f"""\
# The rehearsal host's gateway: one operator, one machine.
[openshell]
version = 2

[openshell.gateway]
compute_driver = "docker"
bind_address = "127.0.0.1:{layout.GATEWAY_PORT}"

[openshell.drivers.docker]
allow_driver_config = true
enable_bind_mounts = true
image_pull_policy = "if_not_present"

[openshell.drivers.docker.resource_admission]
enabled = false
"""

_TABLE: dict[str, Any] = {}
_KNOWN: dict[str, Any] = {
    "openshell": {
        "version": int,
        "gateway": {
            **dict.fromkeys(("name", "bind_address", "health_bind_address", "metrics_bind_address", "log_level"), str),
            **dict.fromkeys(("compute_driver", "guest_tls_ca", "policy_validation_failure_mode"), str),
            **dict.fromkeys(("ssh_session_ttl_secs", "image_preparation_timeout_seconds"), int),
            **dict.fromkeys(("disable_tls", "enable_loopback_service_http", "enable_websocket_tunnel"), bool),
            **dict.fromkeys(("credential_drivers", "server_sans", "provider_profile_sources"), list),
            "tls": dict.fromkeys(("cert_path", "key_path", "client_ca_path"), str),
            "gateway_jwt": _TABLE,
            "auth": {"allow_unauthenticated_users": bool},
            "mtls_auth": {"enabled": bool},
            "oidc": {
                **dict.fromkeys(("issuer", "audience", "roles_claim", "admin_role", "user_role", "scopes_claim"), str),
                "jwks_ttl_secs": int,
            },
            "otlp": _TABLE,
            "ocsf_log": _TABLE,
        },
        "drivers": {
            "docker": {
                **dict.fromkeys(("socket_path", "default_image", "image_pull_policy", "sandbox_label"), str),
                **dict.fromkeys(("grpc_endpoint", "supervisor_image", "sandbox_runtime_image"), str),
                **dict.fromkeys(("supervisor_bin", "app_armor_profile", "https_proxy", "no_proxy"), str),
                **dict.fromkeys(("enable_bind_mounts", "allow_driver_config"), bool),
                "sandbox_pids_limit": int,
                "resource_admission": {"enabled": bool, "required_labels": list},
            },
            "podman": _TABLE,
            "kubernetes": _TABLE,
        },
    }
}  # fmt: skip


class ConfigError(Exception):
    """The file cannot be used; the text is what preflight prints."""


def location() -> Path:
    """OPENSHELL_GATEWAY_CONFIG, else under XDG_CONFIG_HOME, else under HOME."""
    named = os.environ.get("OPENSHELL_GATEWAY_CONFIG")
    if named:
        return Path(named)
    config = os.environ.get("XDG_CONFIG_HOME") or f"{os.environ.get('HOME', '')}/.config"
    return Path(config) / "openshell" / "gateway.toml"


def read(path: Path) -> dict[str, Any]:
    """The validated document. Raises ConfigError."""
    try:
        mode = path.lstat().st_mode
        text = path.read_text()
    except FileNotFoundError:
        raise ConfigError(f"configuration file {path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read configuration file {path}: {error}") from None
    if not stat.S_ISREG(mode):
        raise ConfigError(f"configuration file {path} is not a regular file")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"invalid TOML in {path}: {error}") from None
    _validate(document, _KNOWN, "")
    version = document.get("openshell", {}).get("version")
    if version != 2 or isinstance(version, bool):
        raise ConfigError(f"openshell.version must be 2, got {version}")
    return document


def _validate(document: dict[str, Any], known: dict[str, Any], prefix: str) -> None:
    for name, value in document.items():
        if name not in known:
            expected = ", ".join(f"`{key}`" for key in sorted(known))
            raise ConfigError(f"unknown field `{prefix}{name}`, expected one of {expected}")
        wanted = known[name]
        if isinstance(wanted, dict):
            if not isinstance(value, dict):
                raise ConfigError(f"invalid type for `{prefix}{name}`: expected a table")
            if wanted:
                _validate(value, wanted, f"{prefix}{name}.")
        elif type(value) is not wanted:
            raise ConfigError(f"invalid type for `{prefix}{name}`: expected {wanted.__name__}")


def docker() -> dict[str, Any]:
    """The Docker driver's settings; built-in defaults, so no binds, where there is no usable file."""
    try:
        document = read(location())
    except ConfigError:
        return {}
    return document["openshell"].get("drivers", {}).get("docker", {})


def bind_address() -> tuple[str, int]:
    """Environment over file over default, as OpenShell has it."""
    try:
        stated = read(location())["openshell"].get("gateway", {}).get("bind_address")
    except ConfigError:
        stated = None
    text = os.environ.get("OPENSHELL_BIND_ADDRESS") or stated or f"127.0.0.1:{layout.GATEWAY_PORT}"
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit():
        return text, layout.GATEWAY_PORT
    return host.strip("[]"), int(port)
