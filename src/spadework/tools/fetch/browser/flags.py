"""How Chromium is started, and with which options its contexts are opened."""

from __future__ import annotations

from typing import Any

#: Parts of Chromium that are off: those that Playwright turns off (Chromium heeds only the last
#: list, which is this one; storage stays apart by the site of the page, which Playwright gives up),
#: the window's own pages, and processes started for pages that never come.
_OFF = (
    # each window loads its address bar as two pages: most of what a new context would cost
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "PreloadTopChromeWebUI"),
    *("SpareRendererForSitePerProcess", "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"),
    *("HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
#: The proxy is the boundary; these close other ways, and what nobody reads.
FLAGS = (
    "--disable-quic",
    # names are resolved by the proxy alone
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-domain-reliability", "--no-pings"),
    "--block-new-web-contents",  # what the headless shell has in place of a blocker of windows
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions"),
    *("--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer"),
    *("--disable-dev-shm-usage", "--mute-audio", "--autoplay-policy=user-gesture-required"),
    "--blink-settings=imagesEnabled=false,hyperlinkAuditingEnabled=false",
    "--disable-remote-fonts",
    "--js-flags=--max-old-space-size=512",
    f"--disable-features={','.join(_OFF)}",
)
#: What Playwright would set; without it no page opens windows by itself.
NOT_WANTED = ("--disable-popup-blocking",)
#: A screen as most people have it; the height is what one step of scrolling uncovers.
VIEWPORT = {"width": 1366, "height": 900}
#: The options of a context, in which Chromium says of itself what it is.
CONTEXT: dict[str, Any] = {
    "accept_downloads": False,
    "service_workers": "block",
    "viewport": VIEWPORT,
}
