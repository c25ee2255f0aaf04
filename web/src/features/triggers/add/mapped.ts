import type { FormField } from "@/api/types";
import type { Kind } from "./draft";

/** Which parts of a call or an item are the text and the form of its run, as JMESPath. */
export interface MappedDraft {
  /** Not set: what is usual for the kind. */
  text?: string;
  /** By field of the form of the flow. */
  form: Record<string, string>;
}

export const newMapped = (): MappedDraft => ({ form: {} });

/** Members of an item of each kind: what is offered while a part is written. */
export const MEMBERS: Partial<Record<Kind, readonly string[]>> = {
  feed: ["title", "url", "summary", "published", "id"],
  page: ["text", "title", "url"],
  mail: ["subject", "text", '"from"', "date", "message_id"],
  webhook: ["body", "headers", "query", "method"],
  stream: ["fields", "id"],
  queue: ["body", "headers", "routing_key", "id"],
  topic: ["body", "key", "headers", "time"],
};

/** The parts that a new trigger starts with: the text of a page, and members that have the name of a form field. */
export function guessed(kind: Kind, fields: readonly FormField[], draft: MappedDraft): MappedDraft {
  const members = kind === "webhook" ? [] : (MEMBERS[kind] ?? []);
  const same = fields.flatMap(({ id }) => {
    const member = members.find((one) => one.replaceAll('"', "") === id);
    return member ? [[id, member] as const] : [];
  });
  return {
    text: draft.text ?? (kind === "page" ? "text" : ""),
    form: { ...Object.fromEntries(same), ...draft.form },
  };
}

/** What the server stores. */
export function mappedOf({ text = "", form }: MappedDraft): { text_from?: string; form_from?: Record<string, string> } {
  const written = Object.entries(form).flatMap(([id, part]) => (part.trim() ? [[id, part.trim()] as const] : []));
  return {
    ...(text.trim() ? { text_from: text.trim() } : {}),
    ...(written.length > 0 ? { form_from: Object.fromEntries(written) } : {}),
  };
}

export function mappedDraftOf(config: object): MappedDraft {
  const stored = config as { text_from?: string | null; form_from?: Record<string, string> };
  return { text: stored.text_from ?? "", form: stored.form_from ?? {} };
}
