"""Every form in which a secret was seen to leak, and the innocent text beside it."""

from __future__ import annotations

import base64
import html
import json
import reprlib
import shlex
import textwrap
import time
import urllib.parse
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_amap.evidence.redaction import Redactor, refuse

PLAIN = "sk-canary-api03-Zq8vN1mXw7Lr2KtY5Hs9Bd4Fg6Jc3Pe0-AaTqRrUu"
ODD = "k\"e\\y+with/odd=chars&<and> 'quotes'$and`more`~0123456789"
BOX = "Error:\n  × request with key {first}\n  │ {rest}\n  ╰─▶ refused"


def mime(value: str) -> str:
    return base64.encodebytes(("header: " + value + "\n" + "x" * 100).encode()).decode()


def shortened(value: str) -> str:
    short = reprlib.Repr()
    short.maxstring = 44
    return short.repr(value * 2)


def boxed(value: str) -> str:
    lines = textwrap.wrap(f"failed to use the key {value} at the gateway", 30, break_on_hyphens=True)
    return "Error:   × " + "\n  │ ".join(lines)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json in json": lambda v: json.dumps(json.dumps({"key": v})),
    "json unescaped": lambda v: json.dumps(v, ensure_ascii=False),
    "repr": repr,
    "bytes repr": lambda v: repr(v.encode()),
    "shell quoted": shlex.quote,
    "shell, double quotes": lambda v: '"' + "".join("\\" + c if c in '\\"$`' else c for c in v) + '"',
    "xml": html.escape,
    "xml, quotes kept": lambda v: html.escape(v, quote=False),
    "xml of json": lambda v: html.escape(json.dumps(v)),
    "url": lambda v: urllib.parse.quote(v, safe=""),
    "url, safe slash": urllib.parse.quote,
    "url, plus": urllib.parse.quote_plus,
    "url, lower case": lambda v: urllib.parse.quote(v, safe="").lower() if v.islower() else urllib.parse.quote(v),
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64, offset 1": lambda v: base64.b64encode(b"a" + v.encode() + b"\n").decode(),
    "base64, offset 2": lambda v: base64.b64encode(b"ab" + v.encode() + b"tail").decode(),
    "base64, urlsafe": lambda v: base64.urlsafe_b64encode(v.encode()).decode(),
    "base64, mime": mime,
    "hex": lambda v: v.encode().hex(),
    "hex, upper case": lambda v: v.encode().hex().upper(),
    "hex, colons": lambda v: v.encode().hex(":"),
    "error box": boxed,
    "error box, all split": lambda v: "\n".join(f"  │ {v[i : i + 7]}      │" for i in range(0, len(v), 7)),
    "error box in json": lambda v: json.dumps({"stderr": f"{v[:11]}\n  │ {v[11:]}"}),
    "ascii box": lambda v: f"{v[:11]}   |\n| {v[11:]}",
    "split over lines": lambda v: "\n".join(v[i : i + 9] for i in range(0, len(v), 9)),
    "crlf": lambda v: v[:20] + "\r\n" + v[20:],
    "continued line": lambda v: v[:20] + "\\\n" + v[20:],
    "coloured in the middle": lambda v: v[:20] + "\x1b[31m" + v[20:] + "\x1b[0m",
    "no whitespace": lambda v: "".join(v.split()),
    "cut at the end": lambda v: f"... the key is {v[:17]}",
    "cut at the start": lambda v: f"{v[-17:]} was refused",
    "elided by repr": shortened,
    "elided in a longer text": lambda v: f"xxxx{v[:9]}...{v[-9:]}yyyy",
    "elided with one letter": lambda v: f"xxxx{v[:9]}…{v[-9:]}yyyy",
    "last twenty": lambda v: v[-20:],
    "hex, dashes": lambda v: v.encode().hex("-"),
    "base64, twice": lambda v: base64.b64encode(base64.b64encode(b"user:" + v.encode())).decode(),
    "base64, utf-16": lambda v: base64.b64encode(f"echo {v}".encode("utf-16-le")).decode(),
    "utf-16 read as utf-8": lambda v: v.encode("utf-16").decode("utf-8", "replace") if v.isascii() else v,
    "unicode escapes": lambda v: "".join(f"\\u{ord(char):04X}" for char in v),
    "unicode escapes of what is no letter": lambda v: "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in v),
    "octal escapes": lambda v: "".join(f"\\{byte:03o}" for byte in v.encode()),
    "byte escapes": lambda v: "".join(f"\\x{byte:02x}" for byte in v.encode()),
    "all percent": lambda v: "".join(f"%{byte:02X}" for byte in v.encode()),
    "html codes": lambda v: "".join(f"&#{ord(char)};" for char in v),
    "html codes of what is no letter": lambda v: "".join(c if c.isalnum() else f"&#x{ord(c):X};" for c in v),
    "a list of bytes": lambda v: str(list(v.encode())),
    "a list of hexadecimal bytes": lambda v: ", ".join(f"{byte:#04x}" for byte in v.encode()),
    "a list of letters": lambda v: "['" + "', '".join(v) + "']",
}


def remains(text: str, value: str) -> list[str]:
    """Runs of eight letters of the secret that are still there."""
    bare = "".join(text.split())
    return [value[i : i + 8] for i in range(len(value) - 7) if value[i : i + 8] in bare]


@pytest.mark.parametrize("value", [PLAIN, ODD, "пароль-от-всего-на-свете-123"], ids=["plain", "odd", "cyrillic"])
@pytest.mark.parametrize("form", FORMS)
def test_redaction_of_every_form(form: str, value: str) -> None:
    redactor = Redactor({"CANARY": value})
    written = f"before {FORMS[form](value)} after"
    if form == "cut at the end":
        written = written.removesuffix(" after")
    assert redactor.leaks(written.encode()) == ["CANARY"]
    clean = redactor.text(written)
    assert "[REDACTED:CANARY]" in clean
    assert clean.endswith("after") or form == "cut at the end"
    assert redactor.leaks(clean.encode()) == []
    assert remains(clean, value) == []


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("key sk-ant-api03-AbcDef_12", "AbcDef_12"),
        ("sk-ant-api03-Abc...", "api03-Abc"),
        ('{"peerToken": "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}', "0f1e2d3c"),
        (json.dumps(json.dumps({"peerToken": "0f1e2d3c4b5a6978"})), "0f1e2d3c"),
        ("peerToken=abc-def-123", "abc-def"),
        ("CLAUDE_CODE_MESSAGING_TOKEN=tok3n-value", "tok3n"),
        ("CLAUDE_CODE_MESSAGING_TOKEN: tok3n-value", "tok3n"),
        ("ANTHROPIC_API_KEY='another-value'", "another"),
        ('"ANTHROPIC_API_KEY=another-value"', "another"),
    ],
)
def test_redaction_by_shape(text: str, gone: str) -> None:
    redactor = Redactor({})
    assert redactor.leaks(text.encode())
    assert gone not in redactor.text(text)
    assert redactor.leaks(redactor.text(text).encode()) == []
    if text[0] in '{"':
        json.loads(redactor.text(text))


@pytest.mark.parametrize(
    "text",
    [
        "ANTHROPIC_API_KEY is set",
        "ANTHROPIC_API_KEY: set",
        "ANTHROPIC_API_KEY=<key>",
        "ANTHROPIC_API_KEY=$ANTHROPIC_API_KEY",
        "ANTHROPIC_API_KEY=${KEY:?}",
        "ANTHROPIC_API_KEY=openshell:resolve:env:ANTHROPIC_API_KEY",
        '{"ANTHROPIC_API_KEY": "openshell:resolve:env:ANTHROPIC_API_KEY"}',
        "ANTHROPIC_API_KEY=[REDACTED:ANTHROPIC_API_KEY]",
        "env_vars: [ANTHROPIC_API_KEY]\nheader: x-api-key",
        "keys begin with sk-ant-",
        "the peerToken of a session",
        "a test of the key is a test; password: none",
        "",
    ],
)
def test_redaction_keeps_innocent_text(text: str) -> None:
    redactor = Redactor({"CANARY": PLAIN})
    assert redactor.text(text) is text
    assert redactor.leaks(text.encode()) == []


def test_redaction_of_values_keeps_types_and_json() -> None:
    pair = namedtuple("pair", "a b")
    redactor = Redactor({"CANARY": ODD})
    before: dict[Any, Any] = {
        f"key {ODD}": [f"<{ODD}>", 1, None, True],
        "t": (ODD, f'{{"inner": {json.dumps(ODD)}}}'),
        "p": pair(ODD, 2.5),
        "b": ODD.encode() + b"\xff\x00",
        "peerToken": "whatever1",
    }
    after = redactor.value(before)
    assert after["key [REDACTED:CANARY]"] == ["<[REDACTED:CANARY]>", 1, None, True]
    assert after["t"] == ("[REDACTED:CANARY]", '{"inner": "[REDACTED:CANARY]"}')
    assert after["p"] == pair("[REDACTED:CANARY]", 2.5)
    assert after["b"] == b"[REDACTED:CANARY]\xff\x00"
    assert after["peerToken"] == "[REDACTED:peerToken]"
    assert redactor.value({"ANTHROPIC_API_KEY": "is set"}) == {"ANTHROPIC_API_KEY": "is set"}


def test_redaction_keeps_a_word_of_the_secret_before_an_ellipsis() -> None:
    redactor = Redactor({"KEY": "sk-ant-rehearsal-0123456789abcdef"})
    assert redactor.text("starting the rehearsal...") == "starting the rehearsal..."
    assert redactor.text("sk-ant-rehearsal-01...") == "[REDACTED:KEY]..."


def test_redaction_of_two_secrets_that_overlap() -> None:
    redactor = Redactor({"LONG": "abcDEF123-whole-value", "SHORT": "123-whole-value-next"})
    assert redactor.text("x abcDEF123-whole-value-next y") == "x [REDACTED:LONG] y"


def test_redaction_of_a_secret_of_several_lines() -> None:
    secret = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nqUIHoeXTRA2389hfjkewHUIS\n-----END KEY-----"
    redactor = Redactor({"PEM": secret + "\n"})
    assert redactor.text("1: MIIEvQIBADANBgkqhkiG9w0BAQ\n2: ok") == "1: [REDACTED:PEM]\n2: ok"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("", "blank"),
        (" \n\t", "blank"),
        ("short", "5 characters"),
        ("x" * 40, "four different"),
        ("abababababab", "four different"),
        ("password", "plain word"),
        ("Password123", "plain word"),
        ("PRODUCTION", "plain word"),
        ("REDACTED:KEY", "its own name"),
    ],
)
def test_redaction_refuses_what_it_cannot_hide(value: str, why: str) -> None:
    sentence = refuse("KEY", value)
    assert sentence is not None
    assert why in sentence
    assert "\n" not in sentence
    assert Redactor({"KEY": value}).text("a password, PRODUCTION xx short") == "a password, PRODUCTION xx short"


@pytest.mark.parametrize("value", [PLAIN, ODD, "sk-ant-canary-1", "0f1e2d3c", "correct horse battery"])
def test_redaction_accepts_real_secrets(value: str) -> None:
    assert refuse("KEY", value) is None


def _timed(redactor: Redactor, text: str) -> float:
    """Seconds of a processor, which other processes do not count in."""
    begun = time.process_time()
    redactor.text(text)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "block",
    ["log line 12345 with words\n", "s", "sk-", "... ", "\\n\\u2502 sk-can", "\x00\xff│ \n", "a" * 77 + "\n"],
)
def test_redaction_time_grows_with_the_text_only(block: str) -> None:
    """Two megabytes here; the bound makes 50 MB a matter of seconds."""
    redactor = Redactor({"CANARY": ODD, "KEY": PLAIN})
    assert _timed(redactor, block * (2_000_000 // len(block))) < 3


def test_redaction_of_many_hits_is_quick() -> None:
    text = f"{PLAIN} {PLAIN[:30]} | " * 5_000
    redactor = Redactor({"CANARY": PLAIN})
    begun = time.process_time()
    assert remains(redactor.text(text), PLAIN) == []
    assert time.process_time() - begun < 5


@settings(max_examples=6)
@given(
    secret=st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z")), min_size=9, max_size=60),
    around=st.tuples(st.text(max_size=40), st.text(max_size=40)),
)
def test_redaction_of_any_secret_in_any_text(secret: str, around: tuple[str, str]) -> None:
    if refuse("S", secret) is not None:
        return
    redactor = Redactor({"S": secret})
    for form in (secret, json.dumps(secret), repr(secret), html.escape(secret), urllib.parse.quote(secret)):
        written = around[0] + form + around[1]
        assert redactor.leaks(written.encode()) != []
        assert redactor.leaks(redactor.text(written).encode()) == []
        assert secret not in redactor.text(written)


NOISE = [
    "\n",
    "\r\n",
    "  ",
    "\n  │ ",
    " |\n| ",
    "\x1b[0m",
    "\x1b[1;31m",
    "\\n",
    "\\n  \\u2502 ",
    "\\\n",
    "\x00",
    "╰─▶ ",
]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, len(PLAIN) - 1), st.sampled_from(NOISE)), min_size=1, max_size=12))
def test_redaction_whatever_stands_between_its_letters(cuts: list[tuple[int, str]]) -> None:
    written = PLAIN
    for at, noise in sorted(cuts, reverse=True):
        written = written[:at] + noise + written[at:]
    redactor = Redactor({"KEY": PLAIN})
    assert redactor.leaks(written.encode()) == ["KEY"]
    assert redactor.text(f"<{written}>") == "<[REDACTED:KEY]>"
