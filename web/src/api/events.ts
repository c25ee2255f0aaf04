import { createParser } from "eventsource-parser";
import { ownHeaders } from "./client";
import { ApiError, type Problem } from "./problem";

export interface StreamEvent {
  id: string | undefined;
  event: string;
  data: unknown;
}

interface StreamOptions {
  method?: "GET" | "POST";
  body?: unknown;
  lastEventId?: string | undefined;
  /** Called whenever anything came, the line itself and heartbeats too: who hears nothing for long knows that it is dead. */
  onHeard?: (() => void) | undefined;
  signal: AbortSignal;
}

/**
 * Server-sent events of one request, until the server ends it. Throws ApiError where the answer is no stream, and
 * ApiError.offline where the network goes; the caller that wants to go on asks again with `lastEventId`.
 */
export async function* streamEvents(path: string, options: StreamOptions): AsyncGenerator<StreamEvent> {
  const response = await open(path, options);
  options.onHeard?.();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  const queue: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => queue.push({ id, event: event ?? "message", data: parsed(data) }),
  });
  try {
    for (;;) {
      const { done, value } = await read(reader);
      if (done) return;
      options.onHeard?.();
      parser.feed(value);
      while (queue.length > 0) yield queue.shift() as StreamEvent;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function open(path: string, options: StreamOptions): Promise<Response> {
  const headers: Record<string, string> = { accept: "text/event-stream", ...ownHeaders() };
  if (options.lastEventId) headers["last-event-id"] = options.lastEventId;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method: options.method ?? "GET", headers, signal: options.signal };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  const response = await fetch(path, init).catch((cause: unknown) => {
    if (options.signal.aborted) throw cause;
    throw ApiError.offline(cause);
  });
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Problem | null;
  throw new ApiError(
    response.status,
    problem ?? { code: "http_error", title: response.statusText, status: response.status, detail: "" },
  );
}

async function read(reader: ReadableStreamDefaultReader<string>): Promise<ReadableStreamReadResult<string>> {
  try {
    return await reader.read();
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw ApiError.offline(cause);
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
