/** `settings.widget` of a flow, as the server checks it. */
export interface WidgetConfig {
  enabled: boolean;
  kind: "form" | "chat";
  color: string;
  theme: "light" | "dark" | "auto";
  title: string;
  welcome_text: string;
  questions: string[];
  origins: string[];
}

const PLAIN: WidgetConfig = {
  enabled: false,
  kind: "form",
  color: "#0f766e",
  theme: "auto",
  title: "",
  welcome_text: "",
  questions: [],
  origins: [],
};
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)(:[0-9]{1,5})?$/i;

/** The settings with everything that a draft leaves out; what is no such value is taken for left out. */
export function configOf(widget: Record<string, unknown> | undefined): WidgetConfig {
  const found = widget ?? {};
  const text = (name: "title" | "welcome_text") => (typeof found[name] === "string" ? (found[name] as string) : "");
  return {
    enabled: found.enabled === true,
    kind: found.kind === "chat" ? "chat" : "form",
    color: /^#[0-9a-f]{6}$/i.test(String(found.color)) ? String(found.color) : PLAIN.color,
    theme: found.theme === "light" || found.theme === "dark" ? found.theme : "auto",
    title: text("title"),
    welcome_text: text("welcome_text"),
    questions: Array.isArray(found.questions) ? found.questions.filter((one) => typeof one === "string") : [],
    origins: Array.isArray(found.origins) ? found.origins.filter((one) => typeof one === "string") : [],
  };
}

/** Origins from lines that somebody writes, and the first line that is none. */
export function originsOf(lines: string): { origins: string[]; wrong: string } {
  const found = lines
    .split("\n")
    .map((line) => line.trim().replace(/\/$/, ""))
    .filter(Boolean);
  const wrong = found.find((one) => one !== "*" && !ORIGIN.test(one)) ?? "";
  return { origins: [...new Set(found.filter((one) => one === "*" || ORIGIN.test(one)))], wrong };
}

const MOST_QUESTIONS = 6;
const LONGEST_QUESTION = 200;

/** Suggested questions from lines, as many and as long as the server takes. */
export const questionsOf = (lines: string): string[] =>
  lines
    .split("\n")
    .map((line) => line.trim().slice(0, LONGEST_QUESTION))
    .filter(Boolean)
    .slice(0, MOST_QUESTIONS);

/** The line that an outside page includes. */
export function snippetOf(origin: string, flowId: string, config: WidgetConfig, corner: boolean): string {
  const more = corner
    ? ` data-place="corner" data-label="${escaped(config.title || "Chat")}" data-color="${config.color}"`
    : "";
  return `<script src="${origin}/widget.js" data-flow="${flowId}"${more} async></script>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
