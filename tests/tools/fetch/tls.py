"""A web server that speaks TLS and HTTP/2, with a certificate of its own making, and notes what it
was asked.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import h2.config
import h2.connection
import h2.events
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PAGE = b"<p>This page came over HTTP/2.</p>"


@dataclass
class Secure:
    """The server's port and what it saw: the names asked for in TLS, and in the requests."""

    port: int = 0
    greeted: list[str | None] = field(default_factory=list)
    authorities: list[str] = field(default_factory=list)
    protocols: list[str | None] = field(default_factory=list)


@asynccontextmanager
async def serve(host: str, name: str, folder: Path) -> AsyncIterator[Secure]:
    """Serve PAGE at `host` with a certificate for `name`, which is in `folder`/cert.pem for those
    who trust it.
    """
    context = certified(name, folder)
    seen = Secure()
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda _socket, asked, _context: seen.greeted.append(asked)

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.protocols.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        try:
            await _converse(reader, writer, seen)
        finally:
            writer.close()

    async with await asyncio.start_server(conversation, host, 0, ssl=context) as server:
        seen.port = server.sockets[0].getsockname()[1]
        yield seen


def certified(name: str, folder: Path) -> ssl.SSLContext:
    """What a server needs to speak TLS as `name`; its certificate is in `folder`/cert.pem."""
    _certificate(name, folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Secure
) -> None:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    writer.write(connection.data_to_send())
    while data := await reader.read(65_536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                headers = {
                    bytes(key).decode(): bytes(value).decode() for key, value in event.headers
                }
                seen.authorities.append(headers[":authority"])
                found = headers[":path"] != "/robots.txt"
                connection.send_headers(
                    event.stream_id,
                    [(":status", "200" if found else "404"), ("content-type", "text/html")],
                )
                connection.send_data(event.stream_id, PAGE if found else b"", end_stream=True)
        writer.write(connection.data_to_send())
        await writer.drain()


def _certificate(name: str, folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
