"""Media types and charsets that are missing, odd, or lies."""

from __future__ import annotations

from spadework.errors import Unreadable
from tests.world.paper import pdf
from tests.world.zoo.animal import Animal, Read, Refused, read
from tests.world.zoo.serving import http, says
from tests.world.zoo.texts import PAGE, TEXT, WHOLE, WORDS, page

_DUES = "14 crowns a night"
_PDF = pdf(
    f"Harbour dues\n\nA boat under ten metres pays {_DUES}, and those who stay longer than a week"
    " pay half of it."
)
_PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    + b"\x00\x00\x00\x01" * 2
    + b"\x08\x02\x00\x00\x00\x90wS\xde"
)


def _typed(
    name: str, media_type: str, body: bytes | str = PAGE, expect: Read | Refused = WHOLE
) -> Animal:
    return Animal(name, says(http(body, media_type=media_type)), expect)


_SPOKEN = {
    "German": (
        "Der Leuchtturm von Aldermünde ist für Gäste geöffnet; die Öffnungszeiten ändern sich"
        " täglich, und das Café schließt früher."
    ),
    "Russian": (
        "Маяк порта Альдермир был впервые зажжён третьего октября и с тех пор светит каждую ночь"
        " всем кораблям залива."
    ),
    "Japanese": (
        "港の灯台は明治二十年十月三日に初めて点灯され、それ以来、毎晩すべての船の"
        "ために湾を照らし続けている。灯台の高さは四十一メートルで、今は無人である。"
    ),
    "Chinese": (
        "港口的灯塔于一八八七年十月三日首次点亮，从那以后每天晚上都为海湾"
        "里的所有船只照明。灯塔高四十一米，现在无人居住，由港务局远程看管。"
    ),
    "Korean": (
        "항구의 등대는 천팔백팔십칠년 시월 삼일에 처음 불을 밝혔고 그 뒤로 매일"
        " 밤 만의 모든 배를 위해 빛을 비추고 있다. 지금은 아무도 살지 않는다."
    ),
}


def _encoded(language: str, codec: str, header: str = "", meta: str = "", name: str = "") -> Animal:
    """A page in a language and an encoding, which the header, a meta tag, or nothing names."""
    text = _SPOKEN[language]
    body = page(
        f"<article><h1>{text[:12]}</h1><p>{text}</p><p>{text}</p></article>",
        f'<meta charset="{meta}">' if meta else "",
    )
    media_type = f"text/html; charset={header}" if header else "text/html"
    told = f"{header or '-'} in the header, {meta or '-'} in the page"
    return Animal(
        name or f"{language} in {codec}: {told}",
        says(http(body.encode(codec), media_type=media_type)),
        read(text[:60]),
    )


TYPES = (
    _typed("no media type", ""),
    _typed("a media type in odd case", 'TEXT/Html;Charset="UTF-8" ; q=1'),
    _typed("a media type twice", "text/html, text/html"),
    _typed("half a media type", "text"),
    _typed("any media type", "*/*"),
    _typed("a media type nobody knows", "application/x-lighthouse"),
    _typed("a media type with garbage behind it", 'text/html; charset="utf-8; ;;=\x01'),
    _typed("a page as plain text", "text/plain", expect=read(WORDS)),
    _typed("a page as octets", "application/octet-stream"),
    _typed("a page as a PDF", "application/pdf"),
    _typed("a page as JSON", "application/json"),
    _typed("a page as an image", "image/png"),
    _typed("a PDF as a page", "text/html", _PDF, read(_DUES)),
    _typed("a PDF as octets", "application/octet-stream", _PDF, read(_DUES)),
    _typed("an image as a page", "text/html", _PNG, Refused(Unreadable, "")),
    _typed("JSON as a page", "text/html", f'{{"light": "{TEXT}"}}', read(WORDS)),
    _typed("plain text as a page", "text/html", TEXT),
    _typed(
        "a program as a page",
        "text/html",
        b"\x7fELF" + bytes(range(256)) * 8,
        Refused(Unreadable, "is not supported"),
    ),
    _typed(
        "octets that are nothing",
        "application/octet-stream",
        bytes(range(256)) * 8,
        Refused(Unreadable, "is not supported"),
    ),
    _typed(
        "a video",
        "video/mp4",
        b"\x00\x00\x00\x18ftypmp42" + bytes(1_000),
        Refused(Unreadable, "video/mp4 is not supported"),
    ),
    _typed(
        "XHTML as XML",
        "application/xml",
        '<?xml version="1.0"?><!DOCTYPE html><html '
        f'xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>{TEXT}</p></body></html>',
    ),
    _typed(
        "XHTML",
        "application/xhtml+xml",
        '<?xml version="1.0"?><html'
        f' xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>{TEXT}</p></body></html>',
    ),
    _typed(
        "a feed as a page",
        "text/html",
        "<?xml version='1.0'?><rss "
        f"version='2.0'><channel><title>News</title><item><title>Light</title><description>{TEXT}</description></item></channel></rss>",
    ),
    _typed(
        "a site map",
        "application/xml",
        "<?xml version='1.0'?><urlset "
        "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://example.com/light</loc></url></urlset>",
        read("http://example.com/light"),
    ),
    _encoded("German", "latin-1", header="utf-8", name="says UTF-8, is Latin-1"),
    _encoded(
        "German",
        "utf-8",
        header="iso-8859-1",
        meta="utf-8",
        name="the header says Latin-1, the page UTF-8, and the page is right",
    ),
    _encoded("German", "utf-8", header="windows-1252", name="says Windows-1252, is UTF-8"),
    _encoded(
        "German",
        "latin-1",
        header="iso-8859-1",
        meta="utf-8",
        name="the header says Latin-1, the page UTF-8, and the header is right",
    ),
    _encoded("German", "utf-8", header="x-unknown", name="a charset nobody knows"),
    _encoded("German", "utf-8", header="zip", name="a charset that is a codec of something else"),
    _encoded("German", "utf-8", header="x" * 5_000, name="a charset without end"),
    _encoded("German", "utf-16", name="UTF-16 with its mark"),
    _encoded("German", "utf-8-sig", header="iso-8859-1", name="UTF-8 with its mark"),
    _encoded("German", "utf-16-le", header="utf-16le", name="UTF-16 without a mark"),
    _encoded("German", "utf-16-be", name="UTF-16 that nobody names"),
    _encoded("German", "latin-1"),
    _encoded("German", "cp1252", meta="iso-8859-1"),
    _encoded("Russian", "windows-1251", header="windows-1251"),
    _encoded("Russian", "koi8-r", meta="koi8-r"),
    _encoded("Russian", "utf-8"),
    _encoded("Japanese", "shift_jis", header="Shift_JIS"),
    _encoded("Japanese", "euc_jp", meta="euc-jp"),
    _encoded("Chinese", "gb18030", header="gb2312"),
    _encoded("Chinese", "gb18030", meta="gbk"),
    _encoded("Chinese", "utf-8", header="gb2312", meta="utf-8"),
    _encoded("Korean", "euc_kr", header="euc-kr"),
)
