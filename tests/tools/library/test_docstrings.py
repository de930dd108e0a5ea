"""Docstrings of whatever style become Markdown, without importing anything."""

from __future__ import annotations

import ast
import inspect

from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.library.docstring_markup import docstring_markdown
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
Stirs a soup, see `spoon` and `Pot`.

**Args:**

- `soup` (Soup): What to stir. It may be hot.
- `times`: How often.

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

- `soup` (Soup, optional): What to stir.
- `*times` (int): How often.

**Returns:**

- `out` (Soup): The soup.

**Examples:**

```pycon
>>> stir(1)
2

>>> stir(2)
3
Done.
```

**Notes:** Slowly."""
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

**See also:** `pkg.pot`, the guide

- one more
- two

```
====  ====
a     b
====  ====
1     2
====  ====
```"""
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

    [0]: /guide
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
    assert [line for line in text.markdown.split("\n") if line.startswith("#")] == [
        "## pkg.soup.LIMIT",
        "## class pkg.soup.Pot(size, *, lid=True, **more)",
        "### Pot.lid",
        "### Pot.warm",
        "### async Pot.stir(spoon='wood', /, *spoons)",
        "## pkg.soup.stir(soup, times=1)",
    ]
    assert text.summary == "A module about soup, long enough to be worth showing to anyone"
    assert text.names == ("pkg.soup.Pot", "pkg.soup.stir")
    assert "Make a pot of a size in litres." in text.markdown


def test_a_private_module_shows_only_what_is_public_elsewhere():
    text = module_markdown(ast.parse(MODULE), "pkg._soup", {"Pot": "pkg.Pot"})
    assert text.names == ("pkg.Pot",)
    assert "pkg._soup" not in text.markdown
    assert "How many spoons" not in text.markdown
