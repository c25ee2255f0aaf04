"""Source code as its functions and classes."""

import pytest

from headgate.components.readers.code import DEEPEST, LANGUAGES, language_of_code, sections_of

PYTHON = '''"""Shop, ünïcode 🙂."""
import os


@decorated
class Shop:
    """A shop."""

    rate = 1

    # The total.
    def total(self) -> int:
        return 1

    async def close(self) -> None:
        def inner() -> None:
            pass


def main() -> None:
    print(Shop())


main()
'''
JAVASCRIPT = """import a from 'a';
/** Adds. */
export function add(a, b) { return a + b; }
export const twice = (a) => a;
class Shop {
  total() { return 1; }
}
"""
TYPESCRIPT = """export interface Item { name: string }
export abstract class Shop<T> {
  private x = 1;
  total(): number { return 1; }
}
namespace Tools {
  export function run(): void {}
}
"""
TSX = """export const App = () => <p>hello</p>;
"""
GO = """package shop

// Shop sells.
type Shop struct { Name string }

func (s *Shop) Total() int { return 1 }

func main() { }
"""
JAVA = """package shop;
public class Shop {
  private int rate;
  public Shop() { }
  static class Inner {
    void go() { }
  }
}
"""
RUST = """use std::fmt;
#[derive(Debug)]
struct Shop { name: String }
impl fmt::Display for Shop {
    fn fmt(&self) -> u32 { 1 }
}
"""
SQL = """-- Orders
CREATE TABLE shop.orders (id int);
CREATE VIEW open_orders AS SELECT 1;
SELECT * FROM open_orders;
"""
SAMPLES = {
    "python": (PYTHON, ["", "Shop", "Shop.total", "Shop.close", "main", ""]),
    "javascript": (JAVASCRIPT, ["", "add", "twice", "Shop", "Shop.total"]),
    "typescript": (TYPESCRIPT, ["Item", "Shop", "Shop.total", "Tools", "Tools.run"]),
    "tsx": (TSX, ["App"]),
    "go": (GO, ["", "Shop", "Shop.Total", "main"]),
    "java": (JAVA, ["", "Shop", "Shop.Shop", "Shop.Inner", "Shop.Inner.go"]),
    "rust": (RUST, ["", "Shop", "fmt::Display for Shop", "Shop.fmt"]),
    "sql": (SQL, ["shop.orders", "open_orders", ""]),
}


class TestSections:
    def test_have_a_sample_of_every_language(self) -> None:
        assert set(SAMPLES) == set(LANGUAGES.values())

    @pytest.mark.parametrize("language", SAMPLES)
    def test_are_the_functions_and_classes_in_order(self, language: str) -> None:
        text, names = SAMPLES[language]
        sections = sections_of(text, language)
        assert sections is not None
        assert [name for _, name in sections] == names
        starts = [start for start, _ in sections]
        assert (starts[0], starts) == (0, sorted(set(starts)))

    def test_begin_with_the_comments_and_decorators_of_a_definition(self) -> None:
        sections = sections_of(PYTHON, "python")
        assert sections is not None
        parts = [PYTHON[start:].lstrip().splitlines()[0] for start, _ in sections]
        assert parts[1:5] == ["@decorated", "# The total.", "async def close(self) -> None:", "def main() -> None:"]

    @pytest.mark.parametrize(
        ("text", "language"),
        [("def (:\n", "python"), ("[" * 50_000, "javascript"), ("\x00\ud800{{{", "go"), ("SELEC T FROM;;;", "sql")],
    )
    def test_of_what_does_not_parse_are_none(self, text: str, language: str) -> None:
        assert sections_of(text, language) is None

    def test_are_as_deep_as_a_limit(self) -> None:
        text = "".join("  " * depth + f"class A{depth}:\n" for depth in range(60)) + "  " * 60 + "pass\n"
        sections = sections_of(text, "python")
        assert sections is not None
        assert max(name.count(".") for _, name in sections) == DEEPEST

    def test_are_of_files_with_a_known_extension(self) -> None:
        assert [language_of_code(name) for name in ("a/B.PY", "x.ts", "notes.md", "py")] == [
            "python", "typescript", "", "",
        ]  # fmt: skip
