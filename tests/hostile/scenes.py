"""Questions that are asked in the world while runs are killed."""

from __future__ import annotations

from tests.hostile.killing import Scene, Servers
from tests.world.brain import play
from tests.world.fault import Fault

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Harbour": "Port Aldermere harbour office",
}
_PRICED = {"SPADEWORK_PRICES": '{"world-model": [1, 8]}'}


def _with_model(servers: Servers) -> None:
    """A second round follows, for what the harbour lacks."""
    play(
        servers.model, TOPICS, keywords={"Harbour": "tide"}, gaps={"Harbour": "tide tables printed"}
    )


def _rough(servers: Servers) -> None:
    """The model takes no JSON schema; one search always fails; pages have moved, or come only when
    they are asked for twice.
    """
    _with_model(servers)
    servers.model.script("", Fault("reject_json_schema"))
    servers.searx.fail("limited", query="first lit")
    world = servers.world
    found = [
        *(world.url("odd", path) for path in ("/chain/3", "/status/500?times=1")),
        *(world.url("docs"), world.url("encyclopedia", "/wiki/Port_Aldermere")),
    ]
    servers.searx.script("inhabitants", found)


WITH_MODEL = Scene("model", "What is known about Port Aldermere?", _with_model, _PRICED)
WITHOUT_MODEL = Scene(
    "code",
    "How many inhabitants has Port Aldermere?",
    lambda servers: None,
    {"SPADEWORK_MODEL": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""},
)
ROUGH = Scene(
    "rough",
    "What is known about Port Aldermere?",
    _rough,
    {**_PRICED, "SPADEWORK_EFFORT": "deep", "SPADEWORK_EMBEDDINGS": "small"},
)
SCENES = (WITH_MODEL, WITHOUT_MODEL, ROUGH)
