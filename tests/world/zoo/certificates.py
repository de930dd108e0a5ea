"""Certificates for the zoo: by a maker whom the test trusts, and otherwise."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.world.zoo.animal import Tls
from tests.world.zoo.cage import ADDRESS

_DAY = timedelta(days=1)


class Maker:
    """A maker of certificates; `trusted` is its own, for those who trust it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Harbour Office")
        self.trusted = folder / "maker.pem"
        basic = x509.BasicConstraints(ca=True, path_length=None)
        own = (
            _draft(self._name, self._name, self._key, 2 * _DAY)
            .add_extension(basic, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.trusted.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def context(self, kind: Tls, protocols: tuple[str, ...]) -> ssl.SSLContext | None:
        """What a server of this kind speaks; None for one that speaks no TLS."""
        if kind in ("", "mute"):
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._made(kind))
        context.set_alpn_protocols(list(protocols))
        return context

    def _made(self, kind: Tls) -> Path:
        path = self._folder / f"{kind}.pem"
        if not path.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            subject = _name(ADDRESS)
            own = kind == "self-signed"
            draft = _draft(
                subject,
                subject if own else self._name,
                key,
                -_DAY if kind == "expired" else 2 * _DAY,
            )
            names = x509.SubjectAlternativeName(
                [x509.IPAddress(ip_address("127.0.0.9" if kind == "wrong name" else ADDRESS))]
            )
            made = draft.add_extension(names, critical=False).sign(
                key if own else self._key, hashes.SHA256()
            )
            private = key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
        return path


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, ends: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 5 * _DAY)
        .not_valid_after(now + ends)
    )
