import { EventParser } from "./events";

export interface Field {
  id: string;
  label: string;
  type:
    | "text"
    | "long_text"
    | "number"
    | "select"
    | "multiselect"
    | "checkbox"
    | "date"
    | "json"
    | "image"
    | "audio"
    | "document"
    | "file";
  required: boolean;
  options: string[];
  min?: number | null;
  max?: number | null;
}

export interface About {
  flow_id: string;
  kind: "form" | "chat";
  color: string;
  theme: "light" | "dark" | "auto";
  title: string;
  welcome_text: string;
  /** Suggested first messages of a chat. */
  questions: string[];
  form: Field[];
  visit: string;
}

export interface Sent {
  text: string;
  form_data: Record<string, unknown>;
  files: string[];
}

export interface Made {
  name: string;
  size: number;
  token: string;
}

export type Heard =
  | { kind: "text"; text: string }
  | { kind: "again" | "waiting" }
  | { kind: "done"; text: string | null; files: Made[]; cut: boolean }
  | { kind: "failed" | "stopped" };

/** What went wrong, in words for the visitor; empty where nobody knows. */
export class Refused extends Error {
  constructor(
    words: string,
    readonly code = "",
  ) {
    super(words);
  }
}

const MOST_TRIES = 12;
const LONGEST_WAIT = 15;

/** Speaks to the server for one visit. */
export interface Transport {
  upload(file: File): Promise<string>;
  start(sent: Sent): Promise<string>;
  hear(run: string, signal: AbortSignal): AsyncGenerator<Heard>;
  stop(run: string): Promise<void>;
  rate(run: string, helpful: boolean, correction: string): Promise<void>;
  address(file: Made): string;
}

/** Requests of one visit below an address. */
export function channelOf(path: string, visit: string) {
  const ask = async (address: string, init: RequestInit, tries = 1): Promise<Response> => {
    const answer = await fetch(address, { ...init, credentials: "omit" });
    if (answer.ok) return answer;
    if (answer.status === 429 && tries > 1) {
      await pause(Math.min(LONGEST_WAIT, Number(answer.headers.get("retry-after")) || 5), init.signal);
      return ask(address, init, tries - 1);
    }
    const problem = (await answer.json().catch(() => ({}))) as { detail?: string; code?: string };
    throw new Refused(problem.detail ?? "", problem.code);
  };
  const send = (where: string, { headers, ...init }: RequestInit) =>
    ask(`${path}/${where}`, { method: "POST", ...init, headers: { ...headers, "x-widget-visit": visit } });
  const post = async <T>(where: string, init: RequestInit): Promise<T> =>
    (await send(where, init)).json() as Promise<T>;
  return {
    ask,
    send,
    post,
    async upload(file: File) {
      const body = new FormData();
      body.append("file", file, file.name);
      return (await post<{ token: string }>("files", { body })).token;
    },
  };
}

export function transportOf(about: About, base: string): Transport {
  const path = `${base}/w/${about.flow_id}`;
  const { ask, send, post, upload } = channelOf(path, about.visit);
  const json = (body: unknown) => ({
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  return {
    upload,
    async start(sent) {
      return (await post<{ run: string }>("runs", json(sent))).run;
    },
    async *hear(run, signal) {
      // The run works already, and its result stays: where too many are being problem theirs, this one waits its turn.
      const answer = await ask(`${path}/runs/${run}/events`, { signal }, MOST_TRIES);
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) return;
        for (const event of parser.feed(value)) yield { kind: event.kind, ...event.data } as Heard;
      }
    },
    async stop(run) {
      await ask(`${path}/runs/${run}/stop`, { method: "POST" });
    },
    async rate(run, helpful, correction) {
      await send(`runs/${run}/feedback`, json({ helpful, correction }));
    },
    address: (file) => `${path}/files/${file.token}`,
  };
}

/** So many seconds, unless it is stopped meanwhile. */
function pause(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
