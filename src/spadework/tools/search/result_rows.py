"""Convert providers' results to hits, and apply search filters."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from spadework.settings import Settings
from spadework.tools.search.provider import Provider
from spadework.tools.text.facts import moment
from spadework.tools.text.language import DEFAULT, language_of
from spadework.tools.web.urls import host_of
from spadework.values import Hit, Query, SourceKind, Wish

# fmt: off
_NAMES = (
    "af afghanistan,al albania,dz algeria,ad andorra,ao angola,ar argentina,am armenia,"
    "au australia,at austria,az azerbaijan,bs bahamas,bh bahrain,bd bangladesh,bb barbados,"
    "by belarus,be belgium,bz belize,bj benin,bt bhutan,bo bolivia,ba bosnia and herzegovina,"
    "bw botswana,br brazil,bn brunei,bg bulgaria,bf burkina faso,bi burundi,kh cambodia,"
    "cm cameroon,ca canada,cv cape verde,cf central african republic,td chad,cl chile,cn china,"
    "co colombia,km comoros,cg congo,cr costa rica,hr croatia,cu cuba,cy cyprus,cz czech republic,"
    "dk denmark,dj djibouti,do dominican republic,ec ecuador,eg egypt,sv el salvador,"
    "gq equatorial guinea,er eritrea,ee estonia,et ethiopia,fj fiji,fi finland,fr france,ga gabon,"
    "gm gambia,ge georgia,de germany,gh ghana,gr greece,gt guatemala,gn guinea,ht haiti,"
    "hn honduras,hu hungary,is iceland,in india,id indonesia,ir iran,iq iraq,ie ireland,il israel,"
    "it italy,jm jamaica,jp japan,jo jordan,kz kazakhstan,ke kenya,kw kuwait,kg kyrgyzstan,"
    "lv latvia,lb lebanon,ls lesotho,lr liberia,ly libya,li liechtenstein,lt lithuania,"
    "lu luxembourg,mg madagascar,mw malawi,my malaysia,mv maldives,ml mali,mt malta,mr mauritania,"
    "mu mauritius,mx mexico,md moldova,mc monaco,mn mongolia,me montenegro,ma morocco,"
    "mz mozambique,mm myanmar,na namibia,np nepal,nl netherlands,nz new zealand,ni nicaragua,"
    "ne niger,ng nigeria,kp north korea,mk north macedonia,no norway,om oman,pk pakistan,"
    "pa panama,pg papua new guinea,py paraguay,pe peru,ph philippines,pl poland,pt portugal,"
    "qa qatar,ro romania,ru russia,rw rwanda,sa saudi arabia,sn senegal,rs serbia,sg singapore,"
    "sk slovakia,si slovenia,so somalia,za south africa,kr south korea,ss south sudan,es spain,"
    "lk sri lanka,sd sudan,se sweden,ch switzerland,sy syria,tw taiwan,tj tajikistan,tz tanzania,"
    "th thailand,tg togo,tt trinidad and tobago,tn tunisia,tr turkey,tm turkmenistan,ug uganda,"
    "ua ukraine,ae united arab emirates,gb united kingdom,us united states,uy uruguay,"
    "uz uzbekistan,ve venezuela,vn vietnam,ye yemen,zm zambia,zw zimbabwe"
)
NAMES = MappingProxyType({entry[:2]: entry[3:] for entry in _NAMES.split(",")})
#: Countries that Brave can filter by. It rejects requests with any other country.
BRAVE_COUNTRIES = frozenset((
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb",
    "gr", "hk", "id", "in", "it", "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt",
    "ru", "sa", "se", "tr", "tw", "us", "za",
))
_BRAVE = (
    "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa"
    " pl ro ru sk sl sr sv ta te th tr uk vi"
)
BRAVE_LANGUAGES = MappingProxyType(
    {code: code for code in _BRAVE.split()}
    | {"ja": "jp", "zh": "zh-hans", "pt": "pt-br", "no": "nb"}
    | {"pt-pt": "pt-pt", "pt-br": "pt-br", "en-gb": "en-gb"}
)
#: DuckDuckGo's regions (country-language). Each country's default comes first.
_REGIONS = (
    "ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en", "ca-fr", "ch-de",
    "ch-fr", "ch-it", "cl-es", "cn-zh", "co-es", "cz-cs", "de-de", "dk-da", "ee-et", "es-es",
    "fi-fi", "fr-fr", "gr-el", "hk-tzh", "hr-hr", "hu-hu", "id-id", "id-en", "ie-en", "il-he",
    "in-en", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv", "mx-es", "my-ms", "my-en", "nl-nl",
    "no-no", "nz-en", "pe-es", "ph-en", "pl-pl", "pt-pt", "ro-ro", "ru-ru", "se-sv", "sg-en",
    "sk-sk", "sl-sl", "th-th", "tr-tr", "tw-tzh", "ua-uk", "uk-en", "us-en", "ve-es", "vn-vi",
    "za-en",
)
#: Maps ISO country and language codes to DuckDuckGo's codes, where they differ.
_OWN_COUNTRIES = {"gb": "uk", "si": "sl"}
_OWN_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no"}
#: Maps languages to their default DuckDuckGo regions, unless the region is the language code twice
#: (`de-de`).
_HOMES = {
    "en": "us-en", "zh": "cn-zh", "sv": "se-sv", "da": "dk-da", "cs": "cz-cs", "el": "gr-el",
    "uk": "ua-uk", "et": "ee-et", "he": "il-he", "vi": "vn-vi", "ar": "xa-ar", "ms": "my-ms",
}
PUBMED_LANGUAGES = MappingProxyType({
    "ar": "arabic", "bg": "bulgarian", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "he": "hebrew", "hr": "croatian", "hu": "hungarian", "it": "italian", "ja": "japanese",
    "ko": "korean", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sk": "slovak", "sr": "serbian", "sv": "swedish",
    "tr": "turkish", "uk": "ukrainian", "zh": "chinese",
})
# fmt: on


def region(country: str, language: str) -> str:
    """Return DuckDuckGo's region for a country, a language or both, or "" if there is none."""
    spoken = _OWN_LANGUAGES.get(language, language)
    if not country:
        own = f"{spoken}-{spoken}"
        return _HOMES.get(spoken, own if own in _REGIONS else "")
    there = [one for one in _REGIONS if one.startswith(f"{_OWN_COUNTRIES.get(country, country)}-")]
    return next((one for one in there if one.endswith(f"-{spoken}")), there[0] if there else "")


def is_spoken(place: str, language: str) -> bool:
    """Return whether a DuckDuckGo region uses the language."""
    return place.endswith(f"-{_OWN_LANGUAGES.get(language, language)}")


#: Maximum number of `site:` operators in a query. Engines reject long queries.
MOST_SITES = 5
#: URL prefix of library documents, which have no web address.
SHELF = "library://"
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")


def domains(named: Iterable[str]) -> list[str]:
    """Return the distinct domains of URLs or hosts, without `www.`. Invalid ones are skipped."""
    hosts = (text.strip().lower()[:300].rpartition("://")[2] for text in named)
    found = (re.split(r"[/:?#]", host, maxsplit=1)[0].removeprefix("www.") for host in hosts)
    return list(dict.fromkeys(domain for domain in found if _DOMAIN.fullmatch(domain)))


def with_sites(query: Query, text: str = "") -> str:
    """Return the query's text with `site:` operators for the domains to include and exclude."""
    inside = " OR ".join(f"site:{domain}" for domain in domains(query.include_domains)[:MOST_SITES])
    outside = " ".join(f"-site:{domain}" for domain in domains(query.exclude_domains)[:MOST_SITES])
    either = f"({inside})" if " OR " in inside else inside
    return " ".join(filter(None, (text or query.text, either, outside)))


def is_wanted(query: Query, url: str) -> bool:
    """Return whether the query's domain filters admit a URL (by prefix for library documents)."""
    if not url.startswith(("http://", "https://")):
        inside, outside = _shelves(query.include_domains), _shelves(query.exclude_domains)
        return (not inside or url.startswith(inside)) and not url.startswith(outside)
    host = host_of(url).lower()
    within, without = domains(query.include_domains), domains(query.exclude_domains)
    return (not within or _under(host, within)) and not _under(host, without)


def _shelves(named: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in named if text.strip().startswith(SHELF))


def _under(host: str, named: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in named)


_WORDS: dict[Wish, str] = {
    "country": "a country",
    "language": "a language",
    "news": "news",
    "time": "a time",
}


@runtime_checkable
class Meeting(Protocol):
    """A search provider that can apply some filters itself."""

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the filters that the service itself can apply to the query."""
        ...


def add_filters(query: Query, settings: Settings, question: str = "") -> Query:
    """Return the query with the settings' filters and the question's language added. The query's
    own filters take precedence, but its domains can only narrow the settings' domains.
    """
    inside = settings.search_sites
    only = Query(text="", include_domains=inside)
    within = tuple(site for site in query.include_domains if is_wanted(only, f"https://{site}/"))
    outside = (*query.exclude_domains, *settings.search_avoid_sites)
    spoken = language_of(question)
    return query.model_copy(
        update={
            "country": query.country or settings.search_country,
            "language": query.language or settings.search_language,
            "asked_in": query.asked_in or ("" if spoken == DEFAULT else spoken),
            "news": query.news or settings.search_kinds == ("news",),
            "since": query.since or settings.search_since,
            "until": query.until or settings.search_until,
            "include_domains": within or inside,
            "exclude_domains": tuple(dict.fromkeys(outside)),
        }
    )


def tongue(query: Query) -> str:
    """Return the query's language filter. If unset, return the question's language, or "" (the
    engine's default) if the query is in another language.
    """
    if query.language or not query.asked_in:
        return query.language
    return query.asked_in if language_of(query.text) in ("", query.asked_in) else ""


def filters_of(query: Query) -> frozenset[Wish]:
    """Return the names of the filters that the query sets, except domain filters."""
    there: dict[Wish, bool] = {
        "country": bool(query.country),
        "language": bool(query.language),
        "news": query.news,
        "time": bool(query.since or query.until),
    }
    return frozenset(wish for wish, is_there in there.items() if is_there)


def fits(query: Query, hit: Hit) -> bool:
    """Return whether a hit passes the domain filters and, if it has a date, the date filters."""
    if not is_wanted(query, hit.url):
        return False
    if not hit.published_at:
        return True
    day = hit.published_at.astimezone(UTC).date()
    return (not query.since or day >= query.since) and (not query.until or day <= query.until)


class Unmet:
    """Collects the search filters that a run's providers could not apply."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[Provider, Query]] = {}
        self._said: set[str] = set()

    def add(self, provider: Provider, query: Query) -> None:
        """Record that a query was sent to a provider."""
        if filters_of(query):
            self._asked[provider.name] = provider, query

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each provider that could not apply a filter."""
        said = (_sentence(*asked) for _, asked in sorted(self._asked.items()))
        return tuple(filter(None, said))

    def news(self) -> tuple[str, ...]:
        """Return the sentences about unapplied filters that no earlier call has returned."""
        fresh = [sentence for sentence in self.sentences() if sentence not in self._said]
        self._said.update(fresh)
        return tuple(fresh)


def _sentence(provider: Provider, query: Query) -> str:
    met = provider.meets(query) if isinstance(provider, Meeting) else frozenset[Wish]()
    left = filters_of(query) - met
    if not left:
        return ""
    named = " or ".join(words for wish, words in _WORDS.items() if wish in left)
    rest = "its results may not match" if left - {"time"} else ""
    dated = "results outside the requested time are left out" if "time" in left else ""
    how = ", and ".join(filter(None, (rest, dated)))
    return f"{provider.name} cannot filter by {named}: {how}."


#: Maximum snippet length in characters. Some services return a whole abstract.
SNIPPET_CHARS = 2_000
PUBLISHER_CHARS = 120
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Row:
    """A hit as the provider returned it. All fields except `kind` may have any type. `date` is in
    any format that `moment` parses. `text` is the full text, if the provider returned it.
    """

    url: Any
    title: Any = ""
    snippet: Any = ""
    date: Any = None
    publisher: Any = ""
    text: Any = ""
    kind: SourceKind = field(default="", kw_only=True)


def number_rows(
    rows: Iterable[Row], provider: str, query: Query, limit: int, kind: SourceKind = ""
) -> list[Hit]:
    """Return hits for the first `limit` rows with a URL or text. `kind` is the default kind."""
    usable = [row for row in rows if row.text or is_web(row.url)]
    return [
        Hit(
            url=whole(row.url) if is_web(row.url) else document_url(provider, row.text),
            title=whole(row.title or ""),
            text=whole(row.text or ""),
            snippet=whole(row.snippet or "")[:SNIPPET_CHARS],
            position=position,
            provider=provider,
            query=query.text,
            publisher=whole(plain(row.publisher))[:PUBLISHER_CHARS],
            kind=row.kind or kind,
            published_at=moment(row.date),
        )
        for position, row in enumerate(usable[:limit], 1)
    ]


def is_web(url: Any) -> bool:
    """Return whether a value is a web address."""
    return isinstance(url, str) and url.startswith(("http://", "https://"))


def document_url(provider: str, text: str) -> str:
    """Return a `library://` URL for a text that has no web address."""
    return f"{SHELF}{provider}/{hashlib.sha256(whole(text).encode()).hexdigest()[:16]}"


def whole(text: Any) -> str:
    """Convert a value to text, replacing lone surrogates, which cannot be stored."""
    return str(text).encode(errors="replace").decode()


def plain(marked: Any) -> str:
    """Return text on one line without HTML markup, or "" for anything but a string."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split()) if isinstance(marked, str) else ""


_URL = ("url", "link", "href", "source", "uri", "entry id")
_TITLE = ("title", "name")
_SNIPPET = ("snippet", "content", "body", "description", "summary", "text", "page_content")
_TEXT = ("page_content", "raw_content")
_DATE = (
    *("published_at", "published_date", "publish_date", "publisheddate"),
    *("page_age", "date", "published"),
)
_PUBLISHER = ("publisher", "journal", "site_name", "sitename")
_LISTS = ("results", "result", "organic", "news", "web", "items", "hits", "documents", "data")
_DEEP = 3
#: Maximum number of characters of a response to parse as a Python literal. Parsing takes a hundred
#: times as much memory as the response.
_MOST_CHARS = 1_000_000
_LINK = re.compile(
    r"\[(?P<title>[^\[\]\n]{1,300})\]\((?P<url>https?://[^\s()<>]+)[^()\n]{0,300}\)|(?P<bare>https?://[^\s<>\"')\]]+)"
)
_MARKS = re.compile(
    r"^\W*(?:\d{1,3}[.)]\s*)?(?:(?P<label>title|url|link|description|snippet|summary|content|text)\W*:)?\W*",
    re.IGNORECASE,
)


def find_list(answer: Any, deep: int = _DEEP) -> list[Any] | None:
    """Return the list of results in a tool's response, or None if there is none. The list can be
    nested in an object, or written as JSON or Python text.
    """
    if artifact := getattr(answer, "artifact", None):
        answer = artifact
    elif not isinstance(answer, list | dict | str):
        answer = getattr(answer, "content", None)
    if isinstance(answer, str):
        answer = _parse(answer)
    if isinstance(answer, list):
        return answer
    if not isinstance(answer, dict) or not deep:
        return None
    listed = (find_list(answer.get(name), deep - 1) for name in _LISTS)
    return next((found for found in listed if found is not None), None)


def _parse(text: str) -> Any:
    for read in (json.loads, ast.literal_eval) if len(text) <= _MOST_CHARS else (json.loads,):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return read(text.strip())
    return None


def row(result: Any) -> Row:
    """Convert a mapping, or an object with `metadata` (LangChain's Document), to a row."""
    fields = result if isinstance(result, Mapping) else getattr(result, "metadata", {})
    given = fields if isinstance(fields, Mapping) else {}
    known = {str(name).lower(): value for name, value in given.items()}
    known.setdefault("page_content", getattr(result, "page_content", ""))
    url, title, snippet, date, publisher, text = (
        next((known[name] for name in names if known.get(name)), None)
        for names in (_URL, _TITLE, _SNIPPET, _DATE, _PUBLISHER, _TEXT)
    )
    if publisher is None and url != known.get("source"):
        publisher = known.get("source")
    if title is None and text and isinstance(url, str):
        title = url.rstrip("/").rpartition("/")[2]
    return Row(url, title, snippet, None if date is None else str(date), publisher, text)


def find_links(text: str) -> list[Row]:
    """Return a row for each distinct URL, with a title and snippet from the surrounding text."""
    found = list(_LINK.finditer(text))
    made: dict[str, Row] = {}
    for n, match in enumerate(found):
        url = (match["url"] or match["bare"]).rstrip(".,;:")
        begins = found[n - 1].end() if n else 0
        ends = found[n + 1].start() if n + 1 < len(found) else len(text)
        before = text[begins : match.start()].rpartition("\n\n")[2].splitlines()
        after = text[match.end() : ends].partition("\n\n")[0].splitlines()
        labelled = dict(filter(None, map(_split_label, [*before, *after])))
        title = (
            match["title"]
            or labelled.pop("title", "")
            or next((words for words in map(_plain, reversed(before)) if words), "")
        )
        snippet = " ".join(labelled.values()) or " ".join(filter(None, map(_plain, after)))
        made.setdefault(url, Row(url, title, snippet))
    return list(made.values())


def _plain(line: str) -> str:
    return line[_MARKS.match(line).end() :].strip()  # type: ignore[union-attr]  # it always matches


def _split_label(line: str) -> tuple[str, str] | None:
    found, words = _MARKS.match(line), _plain(line)
    return (found["label"].lower(), words) if found and found["label"] and words else None
