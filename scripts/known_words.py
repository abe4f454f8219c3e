"""Write the words of definitions that are known to be right into src/kiplint/model/kafka_words.txt.

`python scripts/known_words.py DIRECTORY...` takes the definitions below the directories. What is rare there and nearly
another word is left out, but for what is named in `_RIGHT`.
"""

import sys
import textwrap
from pathlib import Path

from kiplint.model.load import load
from kiplint.model.words import SHORTEST, counts_of, join_texts, nearly, texts_of

_FILE = Path(__file__).parent.parent / "src/kiplint/model/kafka_words.txt"
_RIGHT = {"matches", "strict", "table", "wrote"}


def main(directories: list[str]) -> None:
    """Write the file."""
    files = (file for directory in directories for file in sorted(Path(directory).rglob("*.json")))
    messages = [message for file in files if (message := load(str(file), file.read_bytes()).message)]
    text = join_texts(text for message in messages for text in texts_of(message))
    counts = counts_of(text)
    slips = nearly(counts, counts, counts.__getitem__).keys() - _RIGHT
    words = sorted(word for word in counts.keys() - slips if len(word) >= SHORTEST)
    _FILE.write_text(textwrap.fill(" ".join(words), 120) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
