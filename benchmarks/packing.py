"""What raw pages take on the disk, packed as a session keeps them.

python benchmarks/packing.py reading-web-dev.jsonl.xz
"""

from __future__ import annotations

import json
import lzma
import sys
from statistics import fmean, median

from spadework.tools.stores.exchanges import pack_bytes


def main() -> None:
    """Print the sizes of the pages of a set, as they came and packed."""
    with lzma.open(sys.argv[1], "rt", encoding="utf-8") as lines:
        pages = [json.loads(line)["html"].encode(errors="surrogatepass") for line in lines]
    for name, sizes in (
        ("as they came", [len(page) for page in pages]),
        ("packed", [len(pack_bytes(page)) for page in pages]),
    ):
        print(
            f"{len(pages)} pages {name}: median {median(sizes) / 1000:.1f} kB,"
            f" mean {fmean(sizes) / 1000:.1f} kB"
        )


if __name__ == "__main__":
    main()
