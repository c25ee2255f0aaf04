import type { FlowSettings, JsonValue } from "@/api/types";

/** `settings.widget` as the server reads it; see there for what each member takes. */
export interface Widget {
  enabled: boolean;
  kind: "form" | "chat";
  color: string;
  title: string;
  origins: string[];
}

/** The settings of the widget, whatever is stored: a flow may come from a file of anybody. */
export function widgetOf(settings: FlowSettings | undefined): Widget {
  const { enabled, kind, color, title, origins } = settings?.widget ?? {};
  return {
    enabled: enabled === true,
    kind: kind === "chat" ? "chat" : "form",
    color: typeof color === "string" ? color : "#0f766e",
    title: typeof title === "string" ? title : "",
    origins: Array.isArray(origins) ? origins.filter((one) => typeof one === "string") : [],
  };
}

/** The stored settings with some of them changed; what we do not know stays. */
export function withWidget(settings: FlowSettings, change: Partial<Widget>): Record<string, JsonValue> {
  return { ...settings.widget, ...(change as Record<string, JsonValue>) };
}

export const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

export const originsOf = (text: string) =>
  text
    .split(/[\s,]+/)
    .map((one) => one.trim())
    .filter(Boolean);
