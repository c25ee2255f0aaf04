import type { Trigger } from "@/api/queries/triggers";

type Stored = NonNullable<Extract<Trigger["config"], { kind?: "webhook" }>["response"]>;

/** What a caller that waits for the result receives, as it is written in the dialog. */
export interface ResponseDraft {
  /** A number, or the JMESPath of one. */
  status: string;
  mediaType: string;
  body: string;
  /** A line for each: `Name: JMESPath`. */
  headers: string;
  failedStatus: string;
}

export const newResponse = (): ResponseDraft => ({
  status: "200",
  mediaType: "text/plain",
  body: "",
  headers: "",
  failedStatus: "503",
});

/** A stored response as it is written in the dialog. */
export function responseDraftOf(stored: Stored | null | undefined): ResponseDraft {
  if (!stored) return newResponse();
  return {
    status: stored.status_from ?? String(stored.status ?? 200),
    mediaType: stored.media_type ?? "text/plain",
    body: stored.body_from ?? "",
    headers: Object.entries(stored.headers ?? {})
      .map(([name, expression]) => `${name}: ${expression}`)
      .join("\n"),
    failedStatus: String(stored.failed_status ?? 503),
  };
}

/** What the server stores: null for the usual response, undefined while something is missing. */
export function responseOf(draft: ResponseDraft): Stored | null | undefined {
  const failed = numberOf(draft.failedStatus);
  const lines = draft.headers.split("\n").filter((line) => line.trim());
  if (failed === null || !draft.status.trim() || !draft.mediaType.trim() || !lines.every(isHeader)) return undefined;
  if (JSON.stringify(draft) === JSON.stringify(newResponse())) return null;
  const status = numberOf(draft.status);
  return {
    status: status ?? 200,
    status_from: status === null ? draft.status.trim() : null,
    media_type: draft.mediaType.trim(),
    body_from: draft.body.trim() || null,
    headers: Object.fromEntries(lines.map(headerOf)),
    failed_status: failed,
  };
}

const numberOf = (text: string) => (/^\d{3}$/.test(text.trim()) ? Number(text) : null);
const isHeader = (line: string) => headerOf(line).every(Boolean);

function headerOf(line: string): [string, string] {
  const end = line.indexOf(":");
  return end < 0 ? ["", ""] : [line.slice(0, end).trim(), line.slice(end + 1).trim()];
}
