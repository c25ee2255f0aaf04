import type { NewTrigger } from "@/api/queries/triggers";

export const POLLS = ["feed", "page", "folder", "rows", "mail", "api", "stream", "queue", "topic"] as const;
export type PollKind = (typeof POLLS)[number];
type PollConfig = Extract<NewTrigger["config"], { kind: PollKind }>;
export const FIELDS = [
  "url",
  "selector",
  "folder",
  "pattern",
  "connection",
  "sql",
  "cursor_column",
  "key_column",
  "stream",
  "queue",
  "topic",
  "key_field",
  "group",
  "sender",
  "subject",
  "items",
  "key",
] as const;
export type PollField = (typeof FIELDS)[number];

interface PollForm {
  required: readonly PollField[];
  optional: readonly PollField[];
  connections?: readonly string[];
}

const HTTP = ["api_key_header", "api_key_query", "basic", "bearer", "oauth2_code", "oauth2_device", "oauth2_client"];
const STORAGE = ["s3", "gcs", "azure_blob", "sftp", "webdav", "local_folder"];

/** What each kind asks for. */
export const FORMS: Record<PollKind, PollForm> = {
  feed: { required: ["url"], optional: [] },
  page: { required: ["url"], optional: ["selector"] },
  folder: { required: [], optional: ["connection", "folder", "pattern"], connections: STORAGE },
  rows: {
    required: ["connection", "sql", "cursor_column"],
    optional: ["key_column"],
    connections: ["sql", "sql_file"],
  },
  mail: { required: ["connection"], optional: ["folder", "sender", "subject"], connections: ["imap"] },
  stream: { required: ["connection", "stream"], optional: ["key_field"], connections: ["redis"] },
  queue: { required: ["connection", "queue"], optional: ["key_field"], connections: ["amqp"] },
  topic: { required: ["connection", "topic"], optional: ["key_field", "group"], connections: ["kafka"] },
  api: { required: ["url"], optional: ["connection", "items", "key"], connections: HTTP },
};

/** A poll as it is written in the dialog. */
export interface PollDraft {
  values: Partial<Record<PollField, string>>;
  minutes: string;
  first: "now" | "all";
  markSeen: boolean;
  idle: boolean;
  watch: boolean;
  /** Of rows alone. */
  lookBack: string;
  /** Of a topic alone: where to continue after messages that were deleted. */
  missing: "earliest" | "latest";
}

export const newPoll = (): PollDraft => ({
  values: {},
  minutes: "5",
  first: "now",
  markSeen: true,
  idle: true,
  watch: true,
  lookBack: "200",
  missing: "earliest",
});

export const isPoll = (kind: string): kind is PollKind => (POLLS as readonly string[]).includes(kind);

/** What the server stores; null while something is missing. */
export function pollOf(kind: PollKind, draft: PollDraft): PollConfig | null {
  const { required, optional } = FORMS[kind];
  const minutes = Number(draft.minutes);
  if (!(minutes * 60 >= 10 && minutes <= 10_080) || !Number.isInteger(minutes * 60)) return null;
  const given = (field: PollField) => draft.values[field]?.trim() ?? "";
  if (!required.every(given)) return null;
  const fields = Object.fromEntries([...required, ...optional].filter(given).map((field) => [field, given(field)]));
  const lookBack = Number(draft.lookBack || Number.NaN);
  if (kind === "rows" && !(Number.isInteger(lookBack) && lookBack >= 0 && lookBack <= 1000)) return null;
  return {
    kind,
    ...fields,
    every_seconds: minutes * 60,
    ...(kind === "queue" ? {} : { first: draft.first }),
    ...(kind === "rows" ? { look_back: lookBack } : {}),
    ...(kind === "topic" ? { missing: draft.missing } : {}),
    ...(kind === "folder" ? { watch: draft.watch } : {}),
    ...(kind === "mail" ? { mark_seen: draft.markSeen, idle: draft.idle } : {}),
  } as PollConfig;
}
