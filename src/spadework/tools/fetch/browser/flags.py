"""Command-line flags of Chromium and options of its contexts."""

from __future__ import annotations

from typing import Any

#: Disabled features: those Playwright disables (Chromium reads only the last list, which is this
#: one), the browser window's own pages, and spare renderer processes. Storage partitioning stays
#: on, which Playwright disables.
_OFF = (
    # Each window loads its address bar as two pages, most of the cost of a new context.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "PreloadTopChromeWebUI"),
    *("SpareRendererForSitePerProcess", "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"),
    *("HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
#: The proxy is the security boundary; these close other routes and drop unused features.
FLAGS = (
    "--disable-quic",
    # Only the proxy resolves names.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-domain-reliability", "--no-pings"),
    "--block-new-web-contents",  # the headless shell's popup blocker
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions"),
    *("--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer"),
    *("--disable-dev-shm-usage", "--mute-audio", "--autoplay-policy=user-gesture-required"),
    "--blink-settings=imagesEnabled=false,hyperlinkAuditingEnabled=false",
    "--disable-remote-fonts",
    "--js-flags=--max-old-space-size=512",
    f"--disable-features={','.join(_OFF)}",
)
#: Playwright's flag, omitted so that pages cannot open windows.
NOT_WANTED = ("--disable-popup-blocking",)
#: A common screen size; each scroll step uncovers one height.
VIEWPORT = {"width": 1366, "height": 900}
#: Options of a context; Chromium identifies itself honestly.
CONTEXT: dict[str, Any] = {
    "accept_downloads": False,
    "service_workers": "block",
    "viewport": VIEWPORT,
}
