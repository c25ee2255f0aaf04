/** The category of a component, as a colour: in lists, on nodes, on the map. */
const TEXT: Record<string, string> = {
  input: "text-kind-input",
  ai: "text-kind-ai",
  text: "text-kind-text",
  data: "text-kind-data",
  web: "text-kind-web",
  logic: "text-kind-logic",
  code: "text-kind-code",
  output: "text-kind-output",
};

/** The class that colours text and icons of a category; muted for one that has no colour. */
export const kindText = (category: string | undefined): string => TEXT[category ?? ""] ?? "text-muted";

/** The colour role of a category, for what is painted or drawn as SVG. */
export const kindRole = (category: string | undefined): string =>
  category && category in TEXT ? `kind-${category}` : "line-strong";
