import type { KnowledgeSource, SourceIn } from "@/api/queries/knowledgeSources";

export type SourceKind = SourceIn["config"]["kind"];
export const KINDS: readonly SourceKind[] = ["storage", "git", "web", "sql", "mail"];
export const FOLLOWS = ["page", "sitemap", "links"] as const;
export type Follow = (typeof FOLLOWS)[number];

/** Kinds of the connection that a source is read with. */
export const CONNECTIONS: Partial<Record<SourceKind, readonly string[]>> = {
  storage: ["local_folder", "s3", "gcs", "azure_blob", "sftp", "webdav"],
  git: ["git"],
  sql: ["sql"],
  mail: ["imap"],
};

/** What is written in the dialog; numbers as text. */
export interface SourceDraft {
  connection: string;
  folder: string;
  pattern: string;
  repository: string;
  ref: string;
  url: string;
  follow: Follow;
  depth: string;
  mostPages: string;
  hosts: string;
  sql: string;
  keyColumn: string;
  mailFolder: string;
  sender: string;
  subject: string;
  mostMessages: string;
}

export const EMPTY: SourceDraft = {
  connection: "",
  folder: "",
  pattern: "**/*",
  repository: "",
  ref: "",
  url: "",
  follow: "page",
  depth: "2",
  mostPages: "200",
  hosts: "",
  sql: "",
  keyColumn: "id",
  mailFolder: "INBOX",
  sender: "",
  subject: "",
  mostMessages: "1000",
};

const isCount = (text: string) => /^[1-9]\d*$/.test(text);

/** The settings of a source; null: something is missing. */
export function configOf(kind: SourceKind, draft: SourceDraft): SourceIn["config"] | null {
  const { connection } = draft;
  const pattern = draft.pattern.trim() || "**/*";
  if (CONNECTIONS[kind] && !connection) return null;
  if (kind === "storage") return { kind, connection, folder: draft.folder.trim(), pattern };
  if (kind === "git") return { kind, connection, repository: draft.repository.trim(), ref: draft.ref.trim(), pattern };
  if (kind === "sql") {
    const [sql, key_column] = [draft.sql.trim(), draft.keyColumn.trim()];
    return sql && key_column ? { kind, connection, sql, key_column } : null;
  }
  if (kind === "mail") {
    if (!isCount(draft.mostMessages)) return null;
    const { sender, subject, mailFolder } = draft;
    return {
      kind,
      connection,
      folder: mailFolder.trim() || "INBOX",
      sender,
      subject,
      most_messages: Number(draft.mostMessages),
    };
  }
  if (!draft.url.trim() || !isCount(draft.depth) || !isCount(draft.mostPages)) return null;
  const hosts = draft.hosts.split(/[\s,]+/).filter(Boolean);
  const { follow } = draft;
  return {
    kind,
    url: draft.url.trim(),
    follow,
    depth: Number(draft.depth),
    most_pages: Number(draft.mostPages),
    hosts,
  };
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What the dialog shows of the settings of a source. */
export function draftOf(config: KnowledgeSource["config"]): SourceDraft {
  const entries = Object.entries(config).map(([name, value]) => {
    const field = name === "folder" && config.kind === "mail" ? "mailFolder" : camel(name);
    return [field, Array.isArray(value) ? value.join(", ") : String(value)];
  });
  return { ...EMPTY, ...(Object.fromEntries(entries) as Partial<SourceDraft>) };
}
