"""The providers that settings can name, and what each needs of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spadework.settings import Settings
from spadework.tools.search.arxiv import Arxiv
from spadework.tools.search.brave import Brave
from spadework.tools.search.duckduckgo import DuckDuckGo
from spadework.tools.search.openalex import OpenAlex
from spadework.tools.search.provider import Provider
from spadework.tools.search.pubmed import PubMed
from spadework.tools.search.searxng import SearXNG
from spadework.tools.search.serper import Serper
from spadework.tools.search.tavily import Tavily
from spadework.tools.search.wikipedia import Wikipedia


@dataclass(frozen=True)
class Known:
    """How a provider is made. `setting` is the one that it cannot do without."""

    make: Callable[[Settings], Provider]
    setting: str = ""

    @property
    def variable(self) -> str:
        """The name of the setting in the environment."""
        return self.setting.upper()

    def configured(self, settings: Settings) -> bool:
        """Whether the setting that it needs is set; False when it needs none."""
        return bool(self.setting and getattr(settings, self.setting))

    def lacking(self, settings: Settings) -> bool:
        """Whether the setting that it needs is missing."""
        return bool(self.setting) and not self.configured(settings)


PROVIDERS: dict[str, Known] = {
    "searxng": Known(lambda s: SearXNG(s.searxng_url, agent=s.user_agent), "searxng_url"),
    "serper": Known(lambda s: Serper(s.serper_api_key, agent=s.user_agent), "serper_api_key"),
    "tavily": Known(lambda s: Tavily(s.tavily_api_key, agent=s.user_agent), "tavily_api_key"),
    "brave": Known(lambda s: Brave(s.brave_api_key, agent=s.user_agent), "brave_api_key"),
    "duckduckgo": Known(lambda s: DuckDuckGo()),
    "wikipedia": Known(lambda s: Wikipedia(language=s.search_language, agent=s.user_agent)),
    "arxiv": Known(lambda s: Arxiv(agent=s.user_agent)),
    "openalex": Known(lambda s: OpenAlex(s.openalex_api_key, agent=s.user_agent)),
    "pubmed": Known(lambda s: PubMed(agent=s.user_agent)),
}
