"""Docstrings of whatever style become Markdown, without importing anything."""

from __future__ import annotations

import ast
import inspect
import time

import pytest
from hypothesis import given, strategies as st

from spadework.agents.evidence.passages import quotable
from spadework.tools.extract.text.docstring_markup import docstring_markdown
from spadework.tools.library.docstrings import module_markdown

GOOGLE = """
Stirs a soup, see `spoon`
and :class:`~pkg.Pot`.

Args:
    soup (Soup): What to stir.
        It may be hot.
    times: How often.

        Never zero.

Returns:
    The soup.

!!! warning "Hot"

    Mind your ``fingers``.

Example:
    ```python
    stir(soup,  times=2)

    # done
    ```
"""

NUMPY = """
Stirs a soup.

Parameters
----------
soup : Soup, optional
    What to stir.
*times : int
    How often.

Returns
-------
out : Soup
    The soup.

Examples
--------
>>> stir(1)
2

>>> stir(2)
3
Done.

Notes
-----
Slowly.
"""

SPHINX = """
Stirs a soup like this::

    stir(soup)

      deeper

or:

.. code-block:: python

   pot = Pot()

.. versionadded:: 1.2
   The pot.

:param soup: What to stir,
    if any.
:type soup: Soup
:raises Cold: When cold.
:returns: The soup.

.. seealso:: :mod:`pkg.pot`, `the guide <https://x.org>`_

* one
  more
* two

====  ====
a     b
====  ====
1     2
====  ====
"""


def test_google_style():
    assert (
        docstring_markdown(inspect.cleandoc(GOOGLE))
        == """\
Stirs a soup, see `spoon`
and `Pot`.

**Args:**

- soup (Soup): What to stir. It may be hot.
- times: How often.

Never zero.

**Returns:** The soup.

**Hot:** Mind your `fingers`.

**Example:**

```python
stir(soup,  times=2)

# done
```"""
    )


def test_numpy_style():
    assert (
        docstring_markdown(inspect.cleandoc(NUMPY))
        == """\
Stirs a soup.

**Parameters:**

- soup : Soup, optional: What to stir.
- *times : int: How often.

**Returns:**

- out : Soup: The soup.

**Examples:**

```pycon
>>> stir(1)
2

>>> stir(2)
3
Done.
```

**Notes:**

Slowly."""
    )


def test_sphinx_style():
    assert (
        docstring_markdown(inspect.cleandoc(SPHINX))
        == """\
Stirs a soup like this:

```
stir(soup)

  deeper
```

or:

```python
pot = Pot()
```

**Added in version 1.2:** The pot.

- `soup`: What to stir, if any.
- `Cold`: When cold.
- Returns: The soup.

**See also:** `pkg.pot`, [the guide](https://x.org)

- one more
- two

| a | b |
| --- | --- |
| 1 | 2 |"""
    )


def test_list_items_may_go_on_at_the_margin_and_lines_may_end_on_purpose():
    text = """
    * **auth** - An authentication class to use when sending
    requests.
    * **params** - Parameters.

    count(start) --> start, start+1
    cycle(p) --> p0, p1
    repeat(elem) --> elem, elem

    See [the guide][0] for more than that.
    """
    assert (
        docstring_markdown(inspect.cleandoc(text))
        == """\
- **auth** - An authentication class to use when sending requests.
- **params** - Parameters.

count(start) --> start, start+1
cycle(p) --> p0, p1
repeat(elem) --> elem, elem

See the guide for more than that."""
    )


def test_code_below_a_label_is_code() -> None:
    """An example without markers keeps its lines, and a description that parses stays text."""
    text = """Group tasks.

    Example use:

        async with TaskGroup() as group:
            task = group.create_task(work())

        print("done")

    With a file:

    with open("a") as file:
        file.read()

    Returns:
        dict[str, int]

    Args:
        limits: list[str]
        counts: dict[str, int]
    """
    markdown = docstring_markdown(inspect.cleandoc(text))
    assert (
        "**Example use:**\n\n```\nasync with TaskGroup() as group:\n"
        '    task = group.create_task(work())\n\nprint("done")\n```' in markdown
    )
    assert '```\nwith open("a") as file:\n    file.read()\n```' in markdown
    assert "**Returns:** dict[str, int]" in markdown
    assert markdown.count("```") == 4


@given(st.text(alphabet=st.sampled_from("ab :`>.*-=#|\n    "), max_size=200))
def test_any_docstring_is_read_and_loses_no_letters(text):
    markdown = docstring_markdown(inspect.cleandoc(text))
    assert sum(c == "a" for c in markdown) <= sum(c == "a" for c in text)


MODULE = '''
"""A module about soup, long enough to be worth showing to anyone."""

LIMIT = 3
"""How many spoons there may be in a pot at the same time."""

class Pot(Base):
    """A pot holds soup, and there is always more than one spoon in it."""

    lid: bool = True
    """Whether the pot has a lid, which keeps the soup warm for long."""

    def __init__(self, size, *, lid: bool = True, **more: int) -> None:
        """Make a pot of a size in litres."""

    @property
    def warm(self) -> bool:
        """Whether the soup in the pot is still warm enough to be eaten."""

    async def stir(self, spoon: str = "wood", /, *spoons: str) -> None:
        """Stir the soup with one spoon or with several spoons at once."""

    def _hidden(self):
        """A private method, whose docstring is long enough to be shown."""

def short():
    """Too short."""

if True:
    def stir(soup, times=1):
        """Stir a soup, in a function that is defined under a condition."""
'''


def test_a_module_shows_its_public_parts_with_their_signatures():
    text = module_markdown(ast.parse(MODULE), "pkg.soup")
    assert [line for line in text.markdown.split("\n") if line.startswith(("#", "`"))] == [
        "## pkg.soup.LIMIT",
        "## class pkg.soup.Pot",
        "`pkg.soup.Pot(size, *, lid=True, **more)`",
        "### Pot.lid",
        "### Pot.warm",
        "### Pot.stir",
        "`async Pot.stir(spoon='wood', /, *spoons)`",
        "## pkg.soup.stir",
        "`pkg.soup.stir(soup, times=1)`",
    ]
    assert text.summary == "A module about soup, long enough to be worth showing to anyone"
    assert text.names == ("pkg.soup.Pot", "pkg.soup.stir")
    assert "Make a pot of a size in litres." in text.markdown


def test_a_first_sentence_is_quoted_with_the_call_it_describes():
    text = module_markdown(ast.parse(MODULE), "pkg.soup").markdown
    quotes = [text[start:end] for start, end in quotable(text)]
    stirred = next(quote for quote in quotes if "under a condition" in quote)
    assert stirred.startswith("`pkg.soup.stir(soup, times=1)`\n\nStir a soup")
    long = f"def stir({', '.join(f'spoon_{n}' for n in range(99))}):\n " + DOC
    text = module_markdown(ast.parse(long), "pkg.soup").markdown
    [quote] = [text[start:end] for start, end in quotable(text)]
    assert quote.startswith("`pkg.soup.stir(spoon_0, ")


def test_a_private_module_shows_only_what_is_public_elsewhere():
    text = module_markdown(ast.parse(MODULE), "pkg._soup", {"Pot": "pkg.Pot"})
    assert text.names == ("pkg.Pot",)
    assert "pkg._soup" not in text.markdown
    assert "How many spoons" not in text.markdown


def headings(source: str) -> list[str]:
    markdown = module_markdown(ast.parse(source), "pkg").markdown
    return [line.strip("# ") for line in markdown.split("\n") if line.startswith("#")]


def calls(source: str) -> list[str]:
    markdown = module_markdown(ast.parse(source), "pkg").markdown
    return [line.strip("`") for line in markdown.split("\n") if line.startswith("`")]


PROPERTIES = '''
class Pot:
    """A pot holds soup, and there is always more than one spoon in it."""

    @property
    def lid(self):
        """The lid of the pot, which keeps the soup warm for a long time."""

    @lid.setter
    def lid(self, value):
        """Set the lid, but not while anybody is stirring the soup in it."""

    @property
    def size(self):
        return 3

    @size.setter
    def size(self, value):
        """Set the size, in litres: it may grow, but it cannot shrink again."""
'''


def test_a_property_is_shown_by_how_it_is_read_whatever_sets_it():
    assert headings(PROPERTIES) == ["class pkg.Pot", "Pot.lid", "Pot.size"]
    markdown = module_markdown(ast.parse(PROPERTIES), "pkg").markdown
    assert "keeps the soup warm" in markdown
    assert "but not while" not in markdown


DOC = '"""A pot holds soup, and there is always more than one spoon in it."""'


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("@dataclass\nclass Pot:\n DOC\n size: int\n lid: bool = True", "Pot(size, lid=True)"),
        (
            "@dataclasses.dataclass(frozen=True, kw_only=True)\nclass Pot:\n DOC\n size: int",
            "Pot(*, size)",
        ),
        (
            "@dataclass\nclass Pot:\n DOC\n soups: list = field(default_factory=list)\n"
            " warm: bool = field(init=False)\n made: ClassVar[int] = 0\n _: KW_ONLY\n"
            " lid: bool = field(default=True, repr=False)\n water: InitVar[int] = 1",
            "Pot(soups=list(), *, lid=True, water=1)",
        ),
        ("@dataclass(init=False)\nclass Pot:\n DOC\n size: int", ""),
        ("@dataclass\nclass Pot:\n DOC\n size: int\n def __init__(self): ...", "Pot()"),
        ("class Pot(NamedTuple):\n DOC\n size: int\n lid: bool = True", "Pot(size, lid=True)"),
        (
            "class Pot(pydantic.BaseModel):\n DOC\n model_config = {}\n size: int = Field(gt=0)\n"
            " lid: bool = Field(True, description='x')\n need: int = Field(...)\n _own: int = 3",
            "Pot(*, size, lid=True, need)",
        ),
        ("class Pot(Base):\n DOC\n size: int", ""),
        (
            "class Base(BaseModel):\n size: int\nclass Pot(Base):\n DOC\n size: int = 2\n"
            " lid: bool",
            "Pot(*, size=2, lid)",
        ),
        ("@dataclass\nclass Base:\n size: int\nclass Pot(Base):\n DOC\n lid: bool", "Pot(size)"),
    ],
)
def test_a_class_of_fields_is_shown_with_what_it_is_made_of(source, shown):
    assert headings(source.replace("DOC", DOC)) == ["class pkg.Pot"]
    assert calls(source.replace("DOC", DOC)) == ([f"pkg.{shown}"] if shown else [])


@pytest.mark.timed
def test_classes_that_share_their_bases_are_read_once_each():
    made = ["class A0(BaseModel):\n x: int", "class B0(BaseModel):\n y: int"]
    for n in range(1, 25):
        made += [f"class {name}{n}(A{n - 1}, B{n - 1}):\n pass" for name in "AB"]
    source = "\n".join([*made, "class Pot(A24, B24):\n DOC"]).replace("DOC", DOC)
    began = time.monotonic()
    assert calls(source) == ["pkg.Pot(*, y, x)"]
    assert time.monotonic() - began < 1


def test_classes_that_derive_from_each_other_are_read():
    source = "class Pot(Lid):\n DOC\nclass Lid(Pot, BaseModel):\n size: int".replace("DOC", DOC)
    assert calls(source) == ["pkg.Pot(*, size)"]
