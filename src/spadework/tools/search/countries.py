"""Countries (ISO 3166, lower case) and languages (ISO 639) as search services write them."""

from __future__ import annotations

from types import MappingProxyType

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
#: Tavily writes countries by these names.
NAMES = MappingProxyType({entry[:2]: entry[3:] for entry in _NAMES.split(",")})
#: The countries and languages that Brave knows; it refuses others.
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
#: The regions of DuckDuckGo: a country, and a language in it; a country's usual one first.
_REGIONS = (
    "ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en", "ca-fr", "ch-de",
    "ch-fr", "ch-it", "cl-es", "cn-zh", "co-es", "cz-cs", "de-de", "dk-da", "ee-et", "es-es",
    "fi-fi", "fr-fr", "gr-el", "hk-tzh", "hr-hr", "hu-hu", "id-id", "id-en", "ie-en", "il-he",
    "in-en", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv", "mx-es", "my-ms", "my-en", "nl-nl",
    "no-no", "nz-en", "pe-es", "ph-en", "pl-pl", "pt-pt", "ro-ro", "ru-ru", "se-sv", "sg-en",
    "sk-sk", "sl-sl", "th-th", "tr-tr", "tw-tzh", "ua-uk", "uk-en", "us-en", "ve-es", "vn-vi",
    "za-en",
)
#: Countries and languages that DuckDuckGo writes in its own way.
_OWN_COUNTRIES = {"gb": "uk", "si": "sl"}
_OWN_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no"}
#: The regions of a language that is wished without a country, where its own name is not one.
_HOMES = {
    "en": "us-en", "zh": "cn-zh", "sv": "se-sv", "da": "dk-da", "cs": "cz-cs", "el": "gr-el",
    "uk": "ua-uk", "et": "ee-et", "he": "il-he", "vi": "vn-vi", "ar": "xa-ar", "ms": "my-ms",
}
#: How PubMed writes languages.
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
    """DuckDuckGo's region for a country, a language or both, "" where it has none."""
    spoken = _OWN_LANGUAGES.get(language, language)
    if not country:
        own = f"{spoken}-{spoken}"
        return _HOMES.get(spoken, own if own in _REGIONS else "")
    there = [one for one in _REGIONS if one.startswith(f"{_OWN_COUNTRIES.get(country, country)}-")]
    return next((one for one in there if one.endswith(f"-{spoken}")), there[0] if there else "")


def is_spoken(place: str, language: str) -> bool:
    """Whether a region of DuckDuckGo is one of a language."""
    return place.endswith(f"-{_OWN_LANGUAGES.get(language, language)}")
