import type { FlowNode } from "@/api/types";

type ExampleKey =
  | "example_links"
  | "example_csv"
  | "example_packages"
  | "example_chatbot"
  | "example_explain"
  | "example_run"
  | "example_wait"
  | "example_rename"
  | "example_document";

export interface Example {
  key: ExampleKey;
  /** The step that it speaks of. */
  node?: string;
}

/** A few requests that fit: to begin with on an empty canvas, else about the flow and one of its steps. */
export function examplesFor(nodes: FlowNode[], offline: boolean): Example[] {
  const last = nodes.at(-1)?.id;
  if (!last) {
    const begin: Example[] = [{ key: "example_links" }, { key: "example_csv" }, { key: "example_packages" }];
    return offline ? begin : [{ key: "example_chatbot" }, ...begin.slice(0, 2)];
  }
  const about: Example[] = [{ key: "example_explain" }, { key: "example_run" }];
  return [
    ...about,
    offline ? { key: "example_wait", node: last } : { key: "example_rename", node: last },
    { key: "example_document" },
  ];
}
