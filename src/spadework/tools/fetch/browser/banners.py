"""Consent banners: which buttons refuse or close them, and which words they are known by."""

from __future__ import annotations

from typing import Any

#: Buttons of the common banners: the one that refuses first, then the one that is always there.
KNOWN = (
    "#onetrust-reject-all-handler",
    "#onetrust-accept-btn-handler",
    "#CybotCookiebotDialogBodyButtonDecline",
    "#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll",
    "#didomi-notice-disagree-button",
    "#didomi-notice-agree-button",
    ".qc-cmp2-summary-buttons button[mode=secondary]",
    ".qc-cmp2-summary-buttons button[mode=primary]",
    "[data-testid=uc-deny-all-button]",
    "[data-testid=uc-accept-all-button]",
    "#truste-consent-required",
    "#truste-consent-button",
    ".fc-cta-do-not-consent",
    ".fc-cta-consent",
    ".osano-cm-denyAll",
    ".osano-cm-accept-all",
    ".cky-btn-reject",
    ".cky-btn-accept",
    ".cmplz-deny",
    ".cmplz-accept",
    ".iubenda-cs-reject-btn",
    ".iubenda-cs-accept-btn",
    ".cm-btn-decline",
    ".cm-btn-accept-all",
    ".cc-deny",
    ".cc-dismiss",
    ".cc-btn",
    "#cookiescript_reject",
    "#cookiescript_accept",
    "[data-cookiefirst-action=reject]",
    "[data-cookiefirst-action=accept]",
    "#usercentrics-cmp [data-action-type=deny]",
)

#: What such a box says, and what its buttons say, in the languages most pages have. Refusing is
#: tried first, agreeing last.
WORDS = (
    "cookie",
    "consent",
    "gdpr",
    "datenschutz",
    "einwilligung",
    "consentement",
    "consentimiento",
    "privacidad",
    "toestemming",
    "your privacy",
    "we value your",
    "samtycke",
    "zgod",
)
REFUSE = (
    "reject",
    "decline",
    "refuse",
    "deny",
    "only necessary",
    "necessary only",
    "only essential",
    "essential only",
    "without accepting",
    "ablehnen",
    "nur notwendige",
    "nur essenzielle",
    "refuser",
    "rechazar",
    "rifiuta",
    "weigeren",
    "avvisa",
    "odrzuć",
    "recusar",
)
CLOSE = (
    "close",
    "dismiss",
    "no thanks",
    "not now",
    "×",
    "✕",
    "schließen",
    "fermer",
    "cerrar",
    "chiudi",
    "sluiten",
)
AGREE = (
    "accept",
    "agree",
    "allow",
    "got it",
    "i understand",
    "ok",
    "continue",
    "akzeptieren",
    "zustimmen",
    "verstanden",
    "accepter",
    "j'accepte",
    "aceptar",
    "acepto",
    "accetta",
    "accepteren",
    "akkoord",
    "godkänn",
    "akceptuj",
    "aceitar",
)

#: A box with more text than this is content, whatever it says.
MAX_CHARS = 3_000


def table() -> dict[str, Any]:
    """What `banners.js` is told."""
    return {"known": KNOWN, "words": WORDS, "orders": [REFUSE, CLOSE, AGREE], "most": MAX_CHARS}
