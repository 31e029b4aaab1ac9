"""Turns the fetched packages into two lists of sentences, `en.txt` and `zh.txt`, one sentence a line.

The order and the choice depend on nothing but the sentences: they are sorted by their SHA-256 before they are cut.
"""

import gzip
import hashlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

N_ENGLISH_PER_SOURCE = {"crates": 13000, "wordnet": 9000, "gnome": 3000}
N_CHINESE = 9000

HAN = re.compile(r"[\u4e00-\u9fff]")
WORD = re.compile(r"[A-Za-z]{2,}")


class TextOfBlocks(HTMLParser):
    """The text of HTML or of a Mallard help page, one block element a line."""

    BLOCKS = {"p", "li", "td", "th", "dd", "dt", "h1", "h2", "h3", "h4", "title", "desc", "div", "item", "note", "br"}
    SKIPPED = {"script", "style", "code", "pre", "credit", "revision"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.skipping = [], 0

    def handle_starttag(self, tag, attributes):
        self.skipping += tag in self.SKIPPED and not self.get_starttag_text().endswith("/>")
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_startendtag(self, tag, attributes):
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if tag in self.SKIPPED and self.skipping:
            self.skipping -= 1
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.skipping:
            self.parts.append(re.sub(r"\s+", " ", data))


def markup_text(path):
    parser = TextOfBlocks()
    parser.feed(path.read_text(encoding="utf8", errors="replace"))
    return "".join(parser.parts)


def roff_text(path):
    text = gzip.decompress(path.read_bytes()).decode("utf8", errors="replace")
    lines = []
    for line in text.splitlines():
        if line.startswith((".\\\"", "'\\\"")):
            continue
        if line.startswith((".", "'")):
            macro, _, rest = line.partition(" ")
            line = rest if macro in (".B", ".I", ".BR", ".IR", ".BI") else "\n"
        line = re.sub(r"\\f(\(..|\[[^]]*\]|.)|\\s[-+]?\d|\\[&|,/^]", "", line)
        line = re.sub(r"\\\((..)|\\\[[^]]*\]|\\\*\S", " ", line).replace("\\-", "-").replace("\\", "")
        lines.append(line)
    return "\n".join(lines)


def crates(root):
    for path in sorted(root.glob("vendor/*/**/*")):
        if path.suffix == ".md" and path.name.lower().startswith("readme"):
            text = re.sub(r"```.*?```", "\n", path.read_text(encoding="utf8", errors="replace"), flags=re.S)
            yield re.sub(r"\[!?\[?([^\]]*)\]\(?[^)\n]*\)?", r"\1", text)
        elif path.suffix == ".rs" and "tests" not in path.parts:
            lines = re.findall(r"^[ \t]*//[/!] ?(.*)$", path.read_text(encoding="utf8", errors="replace"), re.M)
            text = re.sub(r"```.*?```", "\n", "\n".join(lines), flags=re.S)
            text = re.sub(r"(?<=[^\n.:])\n(?=[a-z(`\[])", " ", text)  # a sentence goes on in the next line
            yield re.sub(r"\[([^\]]*)\](\([^)\n]*\))?", r"\1", text)


def wordnet(root):
    for path in sorted(root.glob("wordnet-base/usr/share/wordnet/data.*")):
        for line in path.read_text(encoding="utf8", errors="replace").splitlines():
            if "|" not in line or line.startswith("  "):
                continue
            fields, gloss = line.split("|", 1)
            fields = fields.split()
            words = [fields[4 + 2 * at].split("(")[0].replace("_", " ") for at in range(int(fields[3], 16))]
            if any(word[:1].isupper() for word in words):
                continue  # species and famous people
            definition = gloss.split('"')[0].strip(" ;")
            yield f"{', '.join(words[:3])}: {definition}"
            yield "\n".join(re.findall(r'"([^"]+)"', gloss))


def gnome(root, language):
    for path in sorted(root.glob(f"gnome-user-docs/usr/share/help/{language}/**/*.page")):
        yield markup_text(path)


def chinese(root):
    yield from gnome(root, "zh_CN")
    for path in sorted(root.glob("libreoffice-help-zh-cn/**/zh-CN/**/*.html")):
        yield markup_text(path).split("Help content debug info")[0]
    for path in sorted(root.glob("manpages-zh/usr/share/man/zh_CN/man*/*.gz")):
        yield roff_text(path)
    for path in sorted(root.glob("debian-reference-zh-cn/usr/share/debian-reference/*.zh-cn.html")):
        yield markup_text(path)


def chosen(texts, split, keep, limit):
    found = set()
    for text in texts:
        for sentence in re.split(split, text):
            sentence = re.sub(r"\s+", " ", sentence).strip(" *-#>`|\t")
            if keep(sentence):
                found.add(sentence)
    ordered = sorted(found, key=lambda sentence: hashlib.sha256(sentence.encode()).digest())
    print(f"{len(ordered)} sentences, {min(limit, len(ordered))} kept", file=sys.stderr)
    return ordered[:limit]


def english_sentence(text):
    return 24 <= len(text) <= 190 and len(WORD.findall(text)) >= 5 and not HAN.search(text)


def chinese_sentence(text):
    n_han = len(HAN.findall(text))
    return 10 <= len(text) <= 90 and n_han >= 8 and n_han * 2 >= len(text)


def main():
    root = Path(sys.argv[1])
    sources = {"crates": crates(root), "wordnet": wordnet(root), "gnome": gnome(root, "C")}
    english = []
    for name, texts in sources.items():
        english += chosen(texts, r"(?<=[.!?])\s+|\n", english_sentence, N_ENGLISH_PER_SOURCE[name])
    (root / "en.txt").write_text("\n".join(english) + "\n", encoding="utf8")
    zh = chosen(chinese(root), r"[。；！？\n]", chinese_sentence, N_CHINESE)
    (root / "zh.txt").write_text("\n".join(zh) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
