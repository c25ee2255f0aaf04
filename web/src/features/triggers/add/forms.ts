import type { TriggerConfig } from "@/api/queries/triggers";

export type FormConfig = Extract<TriggerConfig, { kind: "form" }>;

/** The form of a flow on a public page, as it is written in the dialog. */
export interface FormDraft {
  access: "anyone" | "links";
  title: string;
  welcome: string;
  color: string;
  theme: "light" | "dark" | "auto";
  after: "text" | "redirect";
  text: string;
  redirect: string;
  /** Local time of an input: YYYY-MM-DDTHH:MM. */
  closes: string;
  most: string;
}

export const newForm = (): FormDraft => ({
  access: "anyone",
  title: "",
  welcome: "",
  color: "#0f766e",
  theme: "auto",
  after: "text",
  text: "",
  redirect: "",
  closes: "",
  most: "",
});

/** What the server stores; null while something is missing. */
export function formOf(draft: FormDraft): FormConfig | null {
  const most = draft.most.trim() ? Number(draft.most) : null;
  const redirects = draft.after === "redirect";
  if (most !== null && !(Number.isInteger(most) && most >= 1)) return null;
  if (redirects && !/^https?:\/\/\S+$/.test(draft.redirect.trim())) return null;
  return {
    kind: "form",
    access: draft.access,
    title: draft.title.trim(),
    welcome_text: draft.welcome,
    color: draft.color,
    theme: draft.theme,
    after_text: redirects ? "" : draft.text,
    redirect_url: redirects ? draft.redirect.trim() : null,
    closes_at: draft.closes ? new Date(draft.closes).toISOString() : null,
    max_submissions: most,
  };
}

/** A stored form as it is written in the dialog. */
export function formDraftOf(config: FormConfig): FormDraft {
  return {
    access: config.access ?? "anyone",
    title: config.title ?? "",
    welcome: config.welcome_text ?? "",
    color: config.color ?? "#0f766e",
    theme: config.theme ?? "auto",
    after: config.redirect_url ? "redirect" : "text",
    text: config.after_text ?? "",
    redirect: config.redirect_url ?? "",
    closes: config.closes_at ? localInput(config.closes_at) : "",
    most: config.max_submissions ? String(config.max_submissions) : "",
  };
}

/** A time as an input for local times writes it. */
export function localInput(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
