"""A page as a tree of its tags, read with the standard library."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


@dataclass
class Node:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self):
        """The text inside, white space collapsed."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())

    def all(self, tag="", **attributes):
        """Every element below with this tag and these attributes."""
        found = []
        for child in self.children:
            if isinstance(child, str):
                continue
            same = not tag or child.tag == tag
            wanted = {key.rstrip("_"): value for key, value in attributes.items()}
            if same and wanted.items() <= child.attributes.items():
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def one(self, tag="", **attributes):
        """The only such element."""
        (found,) = self.all(tag, **attributes)
        return found


class Reader(HTMLParser):
    """Builds the tree and insists that every tag is closed in order."""

    def __init__(self):
        super().__init__()
        self.path = [Node("", {})]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs))
        self.path[-1].children.append(node)
        if tag not in VOID:
            self.path.append(node)

    def handle_endtag(self, tag):
        assert self.path[-1].tag == tag, f"</{tag}> closes <{self.path[-1].tag}>"
        self.path.pop()

    def handle_data(self, data):
        self.path[-1].children.append(data)


def read(page):
    """The tree of a page."""
    reader = Reader()
    reader.feed(page)
    assert len(reader.path) == 1, f"<{reader.path[-1].tag}> is never closed"
    return reader.path[0]


def rows(tree, table):
    """The cells' texts of a table's body."""
    body = tree.one("table", id=table).one("tbody")
    return [
        [cell.text for cell in row.children if not isinstance(cell, str)] for row in body.all("tr")
    ]
