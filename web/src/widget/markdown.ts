import { el } from "./dom";
import { inline } from "./inline";

/**
 * The Markdown that models write, as elements: headings, lists, tables, quotes, code, links. What is no Markdown is
 * text, markup included; links lead to http, https and mail alone; pictures are not loaded but named.
 */
export function markdown(text: string): DocumentFragment {
  const found = document.createDocumentFragment();
  found.append(...blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
  return found;
}

const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*[\w+-]*\s*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^(\s{0,12})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** What stands at a line, and the line behind it; null where something else does. */
type Reader = (lines: string[], at: number, depth: number) => [Node | null, number] | null;

const READERS: Reader[] = [blank, fence, heading, rule, quote, items, grid, paragraph];

function blocks(lines: string[], depth: number): Node[] {
  const found: Node[] = [];
  let at = 0;
  while (at < lines.length) {
    for (const read of READERS) {
      const block = read(lines, at, depth);
      if (!block) continue;
      if (block[0]) found.push(block[0]);
      at = block[1];
      break;
    }
  }
  return found;
}

const line = (lines: string[], at: number) => lines[at] ?? "";

function until(lines: string[], from: number, ends: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && !ends(line(lines, at))) at += 1;
  return at;
}

function blank(lines: string[], at: number): ReturnType<Reader> {
  return line(lines, at).trim() ? null : [null, at + 1];
}

function fence(lines: string[], at: number): ReturnType<Reader> {
  const marks = FENCE.exec(line(lines, at))?.[1];
  if (!marks) return null;
  const end = until(lines, at + 1, (one) => one.trim().startsWith(marks));
  return [el("pre", { tabindex: "0" }, el("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

function heading(lines: string[], at: number): ReturnType<Reader> {
  const found = HEADING.exec(line(lines, at));
  if (!found) return null;
  const level = Math.min(6, (found[1] ?? "#").length + 1) as 2 | 3 | 4 | 5 | 6;
  return [el(`h${level}`, {}, ...inline(found[2] ?? "")), at + 1];
}

function rule(lines: string[], at: number): ReturnType<Reader> {
  return RULE.test(line(lines, at)) ? [el("hr"), at + 1] : null;
}

function quote(lines: string[], at: number, depth: number): ReturnType<Reader> {
  if (!QUOTE.test(line(lines, at)) || depth >= DEEPEST) return null;
  const end = until(lines, at, (one) => !QUOTE.test(one));
  const inner = lines.slice(at, end).map((one) => one.replace(/^ {0,3}> ?/, ""));
  return [el("blockquote", {}, ...blocks(inner, depth + 1)), end];
}

function items(lines: string[], at: number, depth: number): ReturnType<Reader> {
  if (!ITEM.test(line(lines, at)) || depth >= DEEPEST) return null;
  const end = until(lines, at + 1, (one) => !ITEM.test(one) && !/^\s{2,}\S/.test(one));
  return [list(lines.slice(at, end), depth), end];
}

function grid(lines: string[], at: number): ReturnType<Reader> {
  const divider = line(lines, at + 1);
  if (!line(lines, at).includes("|") || !divider.includes("-") || !DIVIDER.test(divider)) return null;
  const end = until(lines, at + 2, (one) => !one.includes("|"));
  return [table(lines.slice(at, end)), end];
}

function paragraph(lines: string[], at: number): ReturnType<Reader> {
  const ends = (one: string) =>
    !one.trim() || FENCE.test(one) || HEADING.test(one) || QUOTE.test(one) || ITEM.test(one);
  const end = until(lines, at + 1, ends);
  return [el("p", {}, ...inline(lines.slice(at, end).join("\n"))), end];
}

function list(lines: string[], depth: number): HTMLElement {
  const first = ITEM.exec(lines[0] ?? "");
  const indent = (first?.[1] ?? "").length;
  const ordered = /\d/.test(first?.[2] ?? "");
  const entries: string[][] = [];
  for (const one of lines) {
    const item = ITEM.exec(one);
    if (item && (item[1] ?? "").length <= indent + 1) entries.push([item[3] ?? ""]);
    else entries.at(-1)?.push(one.replace(/^\s{1,4}/, ""));
  }
  const start = ordered ? String(Number.parseInt(first?.[2] ?? "1", 10)) : undefined;
  return el(
    ordered ? "ol" : "ul",
    start && start !== "1" ? { start } : {},
    ...entries.map((item) => {
      const [head = "", ...rest] = item;
      const inner = rest.some((one) => one.trim()) ? blocks(rest, depth + 1) : [];
      return el("li", {}, ...inline(head), ...inner);
    }),
  );
}

function table(lines: string[]): HTMLElement {
  const [head, , ...rows] = lines.map(cells);
  const drawn = (tag: "th" | "td", row: string[]) => el("tr", {}, ...row.map((cell) => el(tag, {}, ...inline(cell))));
  return el(
    "div",
    { class: "table", tabindex: "0" },
    el("table", {}, el("thead", {}, drawn("th", head ?? [])), el("tbody", {}, ...rows.map((row) => drawn("td", row)))),
  );
}

function cells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(^|[^\\])\|$/, "$1");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
