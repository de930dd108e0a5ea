"""The zoo: every kind of broken, slow, hostile or odd server and page, and what must come back."""

from __future__ import annotations

from tests.world.zoo.coding import CODINGS
from tests.world.zoo.connections import CONNECTIONS
from tests.world.zoo.doors import DOORS
from tests.world.zoo.headers import HEADERS
from tests.world.zoo.markup import MARKUP
from tests.world.zoo.redirecting import REDIRECTS
from tests.world.zoo.robots import ROBOTS
from tests.world.zoo.secure import SECURE
from tests.world.zoo.slow import SLOW
from tests.world.zoo.statuses import STATUSES
from tests.world.zoo.types import TYPES

ZOO = (
    CONNECTIONS
    + HEADERS
    + SLOW
    + STATUSES
    + REDIRECTS
    + CODINGS
    + TYPES
    + DOORS
    + MARKUP
    + ROBOTS
    + SECURE
)
