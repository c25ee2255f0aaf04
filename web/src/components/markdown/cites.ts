import type { ReactNode } from "react";

export type Cite = (number: number) => ReactNode | null;

interface Part {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Part[];
}

const NUMBER = /\[(\d{1,3})\]/;
/** What is drawn as it is written. */
const LITERAL = new Set(["a", "code", "pre"]);

/** Marks numbers such as [1] in a text as citations. Runs after the text was sanitised, which removes such marks. */
export function markCites() {
  return (tree: Part) => {
    tree.children = tree.children?.flatMap(marked) ?? [];
  };
}

function marked(part: Part): Part[] {
  if (part.type === "text") return split(part.value ?? "");
  if (part.children && !LITERAL.has(part.tagName ?? "")) return [{ ...part, children: part.children.flatMap(marked) }];
  return [part];
}

function split(text: string): Part[] {
  return text.split(NUMBER).flatMap((piece, index): Part[] => {
    if (index % 2 === 0) return piece ? [{ type: "text", value: piece }] : [];
    const children = [{ type: "text", value: `[${piece}]` }];
    return [{ type: "element", tagName: "cite", properties: { dataNumber: piece }, children }];
  });
}
