"""A box's way out: listeners that live in its network namespace, accepted by its keeper outside it.

A socket belongs to the namespace it was made in, so the keeper answers the box's DNS queries and connections without
any route between the two. Nothing is forwarded: the keeper itself answers as the provider's endpoint.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from .. import oslog
from ..sabotage import lines
from . import dns, http, owner
from .spec import BoxSpec, Endpoint, Network

DNS_PORT = 53
PROXY_PORT = 3128
_RESET_ON_CLOSE = b"\x01\0\0\0\0\0\0\0"  # struct linger {1, 0}


@dataclass(frozen=True)
class Listener:
    """What one inherited socket is for; `endpoint` is None for the DNS stub and the proxy."""

    kind: int
    address: str
    port: int
    endpoint: Endpoint | None = None


def addresses(network: Network) -> dict[str, str]:
    """Allowed host: the loopback address that stands for it in the box."""
    return {endpoint.host: f"127.87.0.{number}" for number, endpoint in enumerate(network.endpoints, 1)}


def listeners(network: Network) -> Iterator[Listener]:
    yield Listener(socket.SOCK_DGRAM, "127.0.0.1", DNS_PORT)
    if network.style == "proxy":
        yield Listener(socket.SOCK_STREAM, "127.0.0.1", PROXY_PORT)
    known = addresses(network)
    for endpoint in network.endpoints:
        for port in endpoint.ports:
            yield Listener(socket.SOCK_STREAM, known[endpoint.host], port, endpoint)


def open_listeners(network: Network, channel: socket.socket) -> None:
    """Bind every listener in the current network namespace and send them to the keeper."""
    opened = []
    for listener in listeners(network):
        bound = socket.socket(socket.AF_INET, listener.kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((listener.address, listener.port))
        if listener.kind == socket.SOCK_STREAM:
            bound.listen(64)
        opened.append(bound)
    socket.send_fds(channel, [b"1"], [bound.fileno() for bound in opened])
    for bound in opened:
        bound.close()


def serve(spec: BoxSpec, box: int, channel: socket.socket) -> None:
    """Answer on the listeners of process `box`, in threads that end with this process."""
    assert spec.network is not None
    wanted = list(listeners(spec.network))
    said, descriptors, _, _ = socket.recv_fds(channel, 1, len(wanted))
    channel.close()
    if said:
        gate = Gate(spec, box)
        for listener, descriptor in zip(wanted, descriptors, strict=True):
            inherited = socket.socket(fileno=descriptor)
            task = gate.resolve if listener.kind == socket.SOCK_DGRAM else gate.accept
            threading.Thread(target=task, args=(inherited, listener), daemon=True).start()


class Gate:
    """Decides and logs what leaves one box."""

    def __init__(self, spec: BoxSpec, box: int) -> None:
        assert spec.network is not None
        self.spec, self.network, self.box = spec, spec.network, box
        self.known = addresses(self.network)
        self.synthetic: dict[str, str] = {}

    def log(self, message: str) -> None:
        oslog.event(self.spec.directory, message)

    def denied(self, message: str) -> None:
        if self.network.logged:
            text, age = lines.denial(message)
            threading.Timer(lines.delay(), oslog.event, (self.spec.directory, text, age + lines.delay())).start()

    def programs(self, protocol: str, port: int) -> list[owner.Program]:
        return owner.lineage(self.box, self.spec.image_root, protocol, port)

    def resolve(self, stub: socket.socket, listener: Listener) -> None:
        """Policy DNS: an address for a host some rule names, refusal (or a synthetic address) for any other."""
        while True:
            query, client = stub.recvfrom(1500)
            try:
                question = dns.parse(query)
            except ValueError:
                continue
            if question.name in self.known:
                answer = dns.answer(query, question, self.known[question.name])
            elif self.network.style == "connect" and question.wants_ipv4:
                answer = dns.answer(query, question, self.synthetic_address(question.name))
                self.note_doomed_connect(question.name, client[1])
            elif self.network.style == "connect":
                answer = dns.answer(query, question, None)
            else:
                self.denied(f"NET:REFUSE [MED] DENIED {question.name}:53 [reason:policy_dns_ineligible]")
                answer = dns.refuse(query, question)
            stub.sendto(answer, client)

    def synthetic_address(self, name: str) -> str:
        return self.synthetic.setdefault(name, f"198.18.0.{len(self.synthetic) % 254 + 1}")

    def note_doomed_connect(self, name: str, port: int) -> None:
        """The kernel's prohibit route refuses the connect before anyone here could see it, so the look-up is logged."""
        program = self.programs("udp", port)[0]
        self.denied(
            f"NET:OPEN [MED] DENIED {program} -> {name}:443 "
            "[policy:- engine:rehearsal] [reason:transparent_tcp_policy_denied]"
        )

    def accept(self, server: socket.socket, listener: Listener) -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=self.converse, args=(connection, listener.endpoint), daemon=True).start()

    def converse(self, connection: socket.socket, endpoint: Endpoint | None) -> None:
        try:
            with connection:
                connection.settimeout(30)
                port = connection.getsockname()[1]
                programs = self.programs("tcp", connection.getpeername()[1])
                if endpoint is None:
                    self.proxy(connection, programs)
                elif self.admit(programs, endpoint, port):
                    self.provide(connection)
                else:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        except OSError:
            return  # the client went away

    def admit(self, programs: list[owner.Program], endpoint: Endpoint, port: int) -> bool:
        target = f"{programs[0]} -> {endpoint.host}:{port}"
        if owner.listed(programs, endpoint.binaries):
            if self.network.logged or endpoint.policy != "-":
                self.log(f"NET:OPEN [INFO] ALLOWED {target} [policy:{endpoint.policy} engine:rehearsal]")
            return True
        self.denied(f"NET:OPEN [MED] DENIED {target} [policy:- engine:rehearsal] [reason:binary not allowed]")
        return False

    def proxy(self, connection: socket.socket, programs: list[owner.Program]) -> None:
        """The explicit proxy of 0.0.x: CONNECT to an allowed host, 403 with a JSON body for any other."""
        target = http.connect_target(connection)
        if target is None:
            return
        host, port = target
        endpoint = next((item for item in self.network.endpoints if item.host == host and port in item.ports), None)
        if endpoint is None:
            self.denied(
                f"NET:OPEN [MED] DENIED {programs[0]} -> {host}:{port} "
                "[policy:- engine:rehearsal] [reason:no matching policy]"
            )
        if endpoint is not None and self.admit(programs, endpoint, port):
            connection.sendall(b"HTTP/1.1 200 Connection Established\r\n\r\n")
            self.provide(connection)
        else:
            http.forbid(connection, host, port)

    def provide(self, connection: socket.socket) -> None:
        if self.network.key_good:
            http.answer(connection)
        else:
            http.refuse_key(connection)
