"""Pages with status 200 that are not the page: walls, notices, doors, empty rooms."""

from __future__ import annotations

from spadework.errors import Blocked, FetchError, Unreadable
from tests.world.zoo.animal import Animal, Refused, read
from tests.world.zoo.serving import http, says
from tests.world.zoo.texts import ARTICLE, LAST, PAGE, TEXT, WHOLE, WORDS, page


def _door(
    name: str,
    kind: str,
    body: str,
    head: str = "",
    *,
    status: str = "200 OK",
    error: type[FetchError] = Blocked,
) -> Animal:
    """A page that must be refused as a door of this kind; a status that refuses may be tried once
    more like a browser.
    """
    return Animal(name, says(http(page(body, head), status=status)), Refused(error, kind), visits=2)


_CAPTCHA, _CHECK, _SCRIPTS, _LOGIN = (
    "behind a captcha",
    "behind a browser check",
    "behind a request to enable JavaScript",
    "behind a login",
)
_NAVIGATION = (
    "<nav><ul>"
    + "".join(f"<li><a href='/{n}'>Chapter {n}</a></li>" for n in range(30))
    + "</ul></nav>"
)
_ABOUT_CAPTCHAS = "A captcha asks you to verify you are human, and few people like it. "
_ABOUT_NOTICES = (
    "A page that could not be found answers with 404, and the site is down for maintenance. "
)

DOORS = (
    _door("nothing", "no text", "", "<title></title>", error=Unreadable),
    Animal("no body at all", says(http("")), Refused(Unreadable, "no text")),
    Animal("spaces", says(http(" \n\t " * 5_000)), Refused(Unreadable, "no text")),
    _door("navigation alone", "no text", _NAVIGATION, error=Unreadable),
    _door(
        "a script alone",
        "no text",
        "<div id=root></div><script>" + "draw('page');" * 500 + "</script>",
        error=Unreadable,
    ),
    _door(
        "frames alone",
        "no text",
        "",
        "<title>Frames</title></head><frameset cols='20%,*'><frame src='/a'><frame"
        " src='/b'></frameset>",
        error=Unreadable,
    ),
    _door(
        "reCAPTCHA",
        _CAPTCHA,
        "<form action='/sorry'><h1>Our systems have detected unusual traffic from your computer"
        " network</h1><div class='g-recaptcha' data-sitekey='x'></div></form>",
    ),
    _door(
        "hCaptcha",
        _CAPTCHA,
        "<h1>One last thing</h1><p>Please confirm you are human to go on.</p><div class='h-captcha'"
        " data-sitekey='x'></div><script src='https://js.hcaptcha.com/1/api.js'></script>",
    ),
    _door(
        "Turnstile",
        "behind a browser c",
        "<h1>example.com</h1><p>Verifying you are human. This may take a few seconds.</p><div"
        " class='cf-turnstile'></div><p>example.com needs to review the security of your connection"
        " before proceeding.</p>",
        "<title>Just a moment...</title>",
    ),
    _door(
        "a browser check",
        _CHECK,
        "<h1>Checking your browser before accessing example.com.</h1><p>This process is automatic."
        " Your browser will redirect to your requested content shortly.</p>",
        "<title>Please wait</title>",
    ),
    _door(
        "PerimeterX",
        _CAPTCHA,
        "<h1>Access to this page has been denied</h1><p>Press &amp; Hold to confirm you are a human"
        " (and not a bot).</p><p>Reference ID 8f2e</p><div id='px-captcha'></div>",
        "<title>Access to this page has been denied</title>",
    ),
    _door(
        "DataDome",
        "behind",
        "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var"
        " dd={'rt':'c','cid':'A','hsh':'B','t':'bv','host':'geo.captcha-delivery.com'}</script><script"  # noqa: E501
        " src='https://ct.captcha-delivery.com/c.js'></script>",
        "<title>example.com</title>",
    ),
    _door(
        "Akamai",
        "behind",
        '<h1>Access Denied</h1><p>You don\'t have permission to access "http://example.com/" on'
        " this server.</p><p>Reference #18.2d351ab8.1557333295.a4e16ab</p>",
        "<title>Access Denied</title>",
    ),
    _door(
        "Imperva",
        "behind",
        "<iframe src='/_Incapsula_Resource?SWUDNSAI=31'>Request unsuccessful. Incapsula incident"
        " ID: 443000270023-1</iframe>",
        "<meta name='robots' content='noindex'><title></title>",
    ),
    _door(
        "AWS WAF",
        _CAPTCHA,
        "<div id='captcha-container'></div><noscript><h1>JavaScript is disabled</h1>In order to"
        " continue, we need to verify that you're not a robot. This requires JavaScript. Enable"
        " JavaScript and then reload the page.</noscript>",
        "<title>Human Verification</title>",
    ),
    _door(
        "GeeTest",
        _CAPTCHA,
        "<div class='geetest_holder'><p>Slide to complete the captcha, then you will be taken to"
        " the page.</p></div>",
        "<title>Security verification</title>",
    ),
    _door(
        "Sucuri",
        "behind",
        "<h1>Sucuri WebSite Firewall - Access Denied</h1><p>If you are the site owner (or you"
        " manage this site), please whitelist your IP.</p><p>Block reason: Access from your country"
        " was disabled.</p>",
        "<title>Sucuri WebSite Firewall - Access Denied</title>",
    ),
    _door(
        "an unusual request",
        "behind",
        "<h1>Sorry, you have been blocked</h1><p>You are unable to access example.com</p><h2>Why"
        " have I been blocked?</h2><p>This website is using a security service to protect"
        " itself.</p>",
        "<title>Attention Required! | Cloudflare</title>",
    ),
    _door(
        "a picture to type",
        _CAPTCHA,
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not"
        " a robot. For best results, please make sure your browser is accepting cookies.</p>",
        "<title>Robot Check</title>",
    ),
    _door(
        "a demand for scripts",
        _SCRIPTS,
        "<noscript>You need to enable JavaScript to run this app.</noscript><div"
        " id='root'></div><script src='/a.js'></script>",
    ),
    _door(
        "a demand for scripts in words",
        _SCRIPTS,
        "<p>JavaScript is not available.</p><p>We've detected that JavaScript is disabled in this"
        " browser. Please enable JavaScript or switch to a supported browser to go on.</p>",
    ),
    _door(
        "a request to enable cookies",
        "behind a request to enable cookies",
        "<h1>Cookies are required</h1><p>Please enable cookies in your browser and load the page"
        " again to go on to the site.</p>",
    ),
    _door(
        "a consent banner alone",
        "behind a consent banner",
        "<div id='consent'><h2>We value your privacy</h2><p>We and our 842 partners store and"
        " access information on your device. Click accept to continue to the"
        " site.</p><button>Accept all</button><button>Reject all</button></div>",
    ),
    _door(
        "a login",
        _LOGIN,
        "<h1>Log in</h1><p>Please log in to continue to the archive of the harbour"
        " office.</p><form><input name='user'><input type='password'></form>",
    ),
    _door(
        "an age check",
        "behind an age check",
        "<h1>Are you over 18?</h1><p>You must be 18 years or older to enter this site. Please"
        " confirm your age.</p><button>I am over 18</button>",
    ),
    _door(
        "a notice that there is no page",
        'shows only a "page not found" notice',
        "<h1>404</h1><p>Sorry, the page you are looking for could not be found. It may have been"
        " moved or removed.</p><a href='/'>Home</a>",
        "<title>Page not found</title>",
    ),
    _door(
        "a maintenance notice",
        "shows only a maintenance notice",
        "<h1>We'll be back soon!</h1><p>Sorry for the inconvenience. The site is down for"
        " maintenance and will be back online shortly.</p>",
        "<title>Down for maintenance</title>",
    ),
    _door(
        "a domain for sale",
        "shows only an offer to sell the domain",
        "<h1>aldermere-light.com</h1><p>This domain is for sale. Buy this domain now, or make an"
        " offer to its owner.</p><ul><li>Lighthouse</li><li>Cheap flights</li></ul>",
    ),
    _door(
        "a server without a site",
        "shows only the default page of a server",
        "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully"
        " installed and working. Further configuration is required.</p>",
        "<title>Welcome to nginx!</title>",
    ),
    _door(
        "too many requests, said in words",
        "behind a rate limit",
        "<h1>Too many requests</h1><p>You have sent too many requests in a short time. Please slow"
        " down and try again later.</p>",
        "<title>Rate limit exceeded</title>",
    ),
    Animal(
        "the beginning of a paid article",
        says(
            http(
                page(
                    f"{ARTICLE}<div class='paywall'><h2>Subscribe to continue"
                    " reading</h2><p>Already a subscriber? <a href='/in'>Log in</a></p></div>"
                )
            )
        ),
        WHOLE,
    ),
    Animal(
        "an article about captchas",
        says(
            http(
                page(
                    f"<article><h1>Captchas</h1><p>{_ABOUT_CAPTCHAS * 15}</p><p>{TEXT}</p></article>"  # noqa: E501
                )
            )
        ),
        WHOLE,
    ),
    Animal(
        "an article about lost pages",
        says(
            http(
                page(
                    "<article><h1>Page not"
                    f" found</h1><p>{_ABOUT_NOTICES * 12}</p><p>{TEXT}</p></article>"
                )
            )
        ),
        WHOLE,
    ),
    Animal(
        "a banner over an article",
        says(
            http(
                PAGE.replace(
                    "<body>",
                    "<body><div class='cookie-banner'><p>We use cookies.</p><button>Accept"
                    " all</button></div>",
                )
            )
        ),
        read(WORDS, LAST, without=("Accept all",)),
    ),
)
