import type { Template } from "@/api/types";
import { redacted } from "@/lib/redacted";
import { readStored, writeStored } from "@/lib/storage";
import type { Message } from "./message";
import { PROTOCOL } from "./plan";
import { settled, storable } from "./redact";

/** A conversation as the browser keeps it. */
export interface Session {
  id: string;
  title: string;
  at: number;
  messages: Message[];
}

interface Kept {
  current: string;
  sessions: Session[];
}

const MOST_SESSIONS = 10;
const LONGEST_TITLE = 60;

const keyOf = (flowId: string) => `assistant.${flowId}`;

export const newSessionId = (): string => `${PROTOCOL.session_prefix}${crypto.randomUUID()}`;

/** The conversations about a flow, the newest first; what is broken in them is left out. */
export function readSessions(flowId: string): Kept {
  const kept = readStored<Partial<Kept>>(keyOf(flowId), {});
  const sessions = Array.isArray(kept.sessions) ? kept.sessions.filter(isSession).slice(0, MOST_SESSIONS) : [];
  return {
    current: typeof kept.current === "string" ? kept.current : "",
    sessions: sessions.map((one) => ({ ...one, messages: one.messages.map(settled) })),
  };
}

export function writeSessions(flowId: string, current: string, sessions: Session[]): void {
  writeStored(keyOf(flowId), { current, sessions } satisfies Kept);
}

function isSession(value: unknown): value is Session {
  const one = value as Partial<Session> | null;
  return typeof one?.id === "string" && Array.isArray(one.messages) && typeof one.at === "number";
}

/** What a conversation is called: its first words. */
function titleOf(messages: Message[]): string {
  const first = messages.find((one) => one.role === "user" && one.kind === "said");
  const words = first?.role === "user" ? redacted(first.text).replace(/\s+/g, " ").trim() : "";
  return words.length > LONGEST_TITLE ? `${words.slice(0, LONGEST_TITLE - 1)}…` : words;
}

/** The conversations with this one as it is now, the newest first and ten at most; one without words is not kept. */
export function withSession(
  sessions: Session[],
  id: string,
  messages: Message[],
  templates: Record<string, Template>,
  now: number,
): Session[] {
  const others = sessions.filter((one) => one.id !== id);
  if (!messages.some((one) => one.role === "user")) return others;
  const kept = { id, title: titleOf(messages), at: now, messages: messages.map((one) => storable(one, templates)) };
  return [kept, ...others].slice(0, MOST_SESSIONS);
}
