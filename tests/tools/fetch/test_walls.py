"""Telling the door of a page from the page."""

from __future__ import annotations

import pytest

from spadework.tools.fetch.block_detection import (
    MARKED_CHARS,
    MAX_CHARS,
    find_wall,
    first_words,
    is_passable,
    wall,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Just a moment...\nChecking your browser before accessing example.com.",
            "a browser check",
        ),
        ("Attention Required! | Cloudflare", "a browser check"),
        ("Please verify you are a human\nPress & Hold", "a captcha"),
        ("Our systems have detected unusual traffic from your computer network.", "a captcha"),
        ("Complete the CAPTCHA below", "a captcha"),
        ("You need to enable JavaScript to run this app.", "a request to enable JavaScript"),
        ("JavaScript is disabled. Please turn it on.", "a request to enable JavaScript"),
        ("This site requires Javascript to work.", "a request to enable JavaScript"),
        ("Sign in to continue to Gmail", "a login"),
        ("You must log in to see this page", "a login"),
        ("Subscribe to continue reading", "a login"),
        ("Human Verification", "a captcha"),
        ("Making sure you're not a bot! Loading", "a browser check"),
        ("You've been blocked by network security.", "a refusal"),
        ("You have sent too many requests in a short time.", "a rate limit"),
        ("Please enable cookies in your browser.", "a request to enable cookies"),
        ("We value your privacy. We and our 842 partners store information.", "a consent banner"),
        ("You must be 18 years or older to enter this site.", "an age check"),
        ("Access Denied\nYou don't have permission to access this server.", "a refusal"),
        ("Sorry, you have been blocked", "a refusal"),
    ],
)
def test_a_wall_is_named(text, kind):
    assert wall(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The harbour of Port Aldermere is open from April to October.",
        "A moment later the lamp went out, and the keeper checked the site again.",
        "JavaScript is a language that was made in ten days.",
        (
            "A captcha tells people from programs. The first was made in 1997 at a search engine,"
            " to keep programs from adding addresses; it showed bent letters, which the programs of"
            " that time could not read, and people could, if with trouble and a good light."
        ),
        (
            "Press and hold the power button for ten seconds until the lamp goes out. Then wait for"
            " a minute, press it again, and let go of it when the lamp is green. The settings are"
            " kept; only the clock must be set anew, in the menu, under the third heading."
        ),
        (
            "MySQL says access denied for user when the password is wrong or the host is not in the"
            " table of users. Look at that table as root, and give the user his rights for the host"
            " he comes from; then flush the privileges, and it will let him in."
        ),
        "You can log in with your library card at any branch.",
        "How captchas work. " + "They show pictures that people can read. " * (MAX_CHARS // 40),
    ],
)
def test_a_page_is_no_wall(text):
    assert wall(text) == ""


def test_what_is_seen_is_text_alone():
    scripts = (
        "<script>let a = '<p>no</p>'</script><noscript>Enable &amp; run</noscript><style>p"
        " {}</style>"
    )
    assert (
        first_words(f"<title>App</title>{scripts}<p>yes<script>left open") == "App Enable & run yes"
    )


#: Pages as the products send them, cut to what is theirs.
MARKED = {
    "Cloudflare, a check": (
        "a browser check",
        "<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>",
    ),
    "Cloudflare, a block": (
        "a refusal",
        "<title>Attention Required! | Cloudflare</title><div id='cf-error-details'>Sorry</div>",
    ),
    "Akamai, a check": (
        "a browser check",
        "<div id='sec-if-cpt-container'></div><script src='/_sec/cp_challenge/ak.js'></script>",
    ),
    "Akamai, a refusal": (
        "a refusal",
        (
            "<title>Access"
            " Denied</title><p>Reference&#32;&#35;18&#46;2d</p>https://errors.edgesuite.net/18"
        ),
    ),
    "HUMAN": (
        "a captcha",
        "<div id='px-captcha'></div><script src='//captcha.px-cdn.net/PXabc/captcha.js'></script>",
    ),
    "DataDome": (
        "a captcha",
        "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>",
    ),
    "Imperva": (
        "a browser check",
        (
            "<iframe id='main-iframe' src='/_Incapsula_Resource?CWUDNSAI=9'>Incapsula incident ID:"
            " 1</iframe>"
        ),
    ),
    "AWS WAF, a check": (
        "a browser check",
        "<script>window.gokuProps = {key: 'a'}</script><div id='challenge-container'></div>",
    ),
    "AWS WAF, a captcha": (
        "a captcha",
        "<div id='captcha-container'></div><script>AwsWafCaptcha.renderCaptcha()</script>",
    ),
    "Anubis": (
        "a browser check",
        "<script id='anubis_challenge' type='application/json'>{}</script>",
    ),
    "Vercel": ("a browser check", "<title>Vercel Security Checkpoint</title>"),
    "Kasada": ("a browser check", "<script>window.KPSDK={};</script>"),
}


@pytest.mark.parametrize("name", MARKED)
def test_a_product_is_known_by_its_marks(name):
    kind, html = MARKED[name]
    assert find_wall(html, 40) == (kind, name.partition(",")[0])
    assert is_passable(html) == (kind == "a browser check")
    assert find_wall(html, MARKED_CHARS + 1) == ("", ""), (
        "a page with text is a page, whatever is in its HTML"
    )


@pytest.mark.parametrize(
    "script",
    [
        "https://js.datadome.co/tags.js",
        "https://client.px-cloud.net/PXabc/main.min.js",
        "/cdn-cgi/challenge-platform/scripts/jsd/main.js",
        "https://www.google.com/recaptcha/api.js",
        "https://challenges.cloudflare.com/turnstile/v0/api.js",
        "https://abc.edge.sdk.awswaf.com/abc/challenge.js",
        "/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3",
    ],
)
def test_what_guards_ordinary_pages_is_no_mark(script):
    form = "<form><div class=g-recaptcha></div></form>"
    html = (
        f"<title>Contact</title><p>Write to the harbour office.</p>{form}<script"
        f" src='{script}'></script>"
    )
    assert find_wall(html, 30) == ("", "")
    assert not is_passable(html)
