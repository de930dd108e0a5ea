"""Filters of a search: domains, dates, country and language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from spadework.settings import Settings
from spadework.tools.search.provider import Provider
from spadework.tools.text.language import language_of
from spadework.tools.web.urls import host_of
from spadework.values import Hit, Query, Wish

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
#: Tavily's names of countries.
NAMES = MappingProxyType({entry[:2]: entry[3:] for entry in _NAMES.split(",")})
#: Countries and languages that Brave accepts; it refuses others.
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
#: DuckDuckGo's regions (country, language); each country's default first.
_REGIONS = (
    "ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en", "ca-fr", "ch-de",
    "ch-fr", "ch-it", "cl-es", "cn-zh", "co-es", "cz-cs", "de-de", "dk-da", "ee-et", "es-es",
    "fi-fi", "fr-fr", "gr-el", "hk-tzh", "hr-hr", "hu-hu", "id-id", "id-en", "ie-en", "il-he",
    "in-en", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv", "mx-es", "my-ms", "my-en", "nl-nl",
    "no-no", "nz-en", "pe-es", "ph-en", "pl-pl", "pt-pt", "ro-ro", "ru-ru", "se-sv", "sg-en",
    "sk-sk", "sl-sl", "th-th", "tr-tr", "tw-tzh", "ua-uk", "uk-en", "us-en", "ve-es", "vn-vi",
    "za-en",
)
#: DuckDuckGo's own codes of countries and languages.
_OWN_COUNTRIES = {"gb": "uk", "si": "sl"}
_OWN_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no"}
#: Regions for languages without a country, where the language code itself is not one.
_HOMES = {
    "en": "us-en", "zh": "cn-zh", "sv": "se-sv", "da": "dk-da", "cs": "cz-cs", "el": "gr-el",
    "uk": "ua-uk", "et": "ee-et", "he": "il-he", "vi": "vn-vi", "ar": "xa-ar", "ms": "my-ms",
}
#: PubMed's names of languages.
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
    """Return DuckDuckGo's region for a country, a language or both; "" if none."""
    spoken = _OWN_LANGUAGES.get(language, language)
    if not country:
        own = f"{spoken}-{spoken}"
        return _HOMES.get(spoken, own if own in _REGIONS else "")
    there = [one for one in _REGIONS if one.startswith(f"{_OWN_COUNTRIES.get(country, country)}-")]
    return next((one for one in there if one.endswith(f"-{spoken}")), there[0] if there else "")


def is_spoken(place: str, language: str) -> bool:
    """Return whether a DuckDuckGo region has the language."""
    return place.endswith(f"-{_OWN_LANGUAGES.get(language, language)}")


#: Maximum operators per query; engines refuse long ones.
MOST_SITES = 5
#: Prefix of a library document's address.
SHELF = "library://"
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")


def domains(named: Iterable[str]) -> list[str]:
    """Return the distinct domains among the texts: `https://www.Example.org/x` is example.org."""
    hosts = (text.strip().lower()[:300].rpartition("://")[2] for text in named)
    found = (re.split(r"[/:?#]", host, maxsplit=1)[0].removeprefix("www.") for host in hosts)
    return list(dict.fromkeys(domain for domain in found if _DOMAIN.fullmatch(domain)))


def with_sites(query: Query, text: str = "") -> str:
    """Return the query's text (or `text`) with `site:` operators for its domains."""
    inside = " OR ".join(f"site:{domain}" for domain in domains(query.include_domains)[:MOST_SITES])
    outside = " ".join(f"-site:{domain}" for domain in domains(query.exclude_domains)[:MOST_SITES])
    either = f"({inside})" if " OR " in inside else inside
    return " ".join(filter(None, (text or query.text, either, outside)))


def is_wanted(query: Query, url: str) -> bool:
    """Return whether a page may be a result. Library documents have no domain and pass, unless
    address prefixes of shelves are given (`library://notes/2026`).
    """
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


#: The language engines assume by default.
ENGLISH = "en"
_WORDS: dict[Wish, str] = {
    "country": "a country",
    "language": "a language",
    "news": "news",
    "time": "a time",
}


@runtime_checkable
class Meeting(Protocol):
    """A provider that supports filters."""

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the query's filters that its service applies."""
        ...


def add_filters(query: Query, settings: Settings, question: str = "") -> Query:
    """Fill in the settings' filters where the query has none, and the language of its `question`.
    The query's domains narrow those of the settings.
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
            "asked_in": query.asked_in or ("" if spoken == ENGLISH else spoken),
            "news": query.news or settings.search_news,
            "since": query.since or settings.search_since,
            "until": query.until or settings.search_until,
            "include_domains": within or inside,
            "exclude_domains": tuple(dict.fromkeys(outside)),
        }
    )


def tongue(query: Query) -> str:
    """Return the language web engines should prefer: the requested one, else the question's unless
    the query is in another; "" for the engine's default.
    """
    if query.language or not query.asked_in:
        return query.language
    return query.asked_in if language_of(query.text) in ("", query.asked_in) else ""


def filters_of(query: Query) -> frozenset[Wish]:
    """Return the query's filters that some providers do not support."""
    there: dict[Wish, bool] = {
        "country": bool(query.country),
        "language": bool(query.language),
        "news": query.news,
        "time": bool(query.since or query.until),
    }
    return frozenset(wish for wish, is_there in there.items() if is_there)


def fits(query: Query, hit: Hit) -> bool:
    """Return whether a hit is within the query's domains and, if dated, its days."""
    if not is_wanted(query, hit.url):
        return False
    if not hit.published_at:
        return True
    day = hit.published_at.astimezone(UTC).date()
    return (not query.since or day >= query.since) and (not query.until or day <= query.until)


class Unmet:
    """A run's filters that a provider does not support."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[Provider, Query]] = {}
        self._said: set[str] = set()

    def add(self, provider: Provider, query: Query) -> None:
        """Record a query sent to a provider."""
        if filters_of(query):
            self._asked[provider.name] = provider, query

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each provider with unsupported filters."""
        said = (_sentence(*asked) for _, asked in sorted(self._asked.items()))
        return tuple(filter(None, said))

    def news(self) -> tuple[str, ...]:
        """Return the sentences not reported before."""
        fresh = [sentence for sentence in self.sentences() if sentence not in self._said]
        self._said.update(fresh)
        return tuple(fresh)


def _sentence(provider: Provider, query: Query) -> str:
    met = provider.meets(query) if isinstance(provider, Meeting) else frozenset[Wish]()
    left = filters_of(query) - met
    if not left:
        return ""
    named = " or ".join(words for wish, words in _WORDS.items() if wish in left)
    rest = "its results are as without that wish" if left - {"time"} else ""
    dated = "of its results those dated outside it are left out" if "time" in left else ""
    how = ", and ".join(filter(None, (rest, dated)))
    return f"{provider.name} cannot be asked for {named}: {how}."
