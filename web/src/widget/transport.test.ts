import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { type About, type Heard, Refused, transportOf } from "./transport";

const about: About = {
  flow_id: "f",
  kind: "chat",
  color: "#000000",
  theme: "auto",
  title: "",
  welcome_text: "",
  questions: [],
  form: [],
  visit: "v",
};
const transport = () => transportOf(about, "http://127.0.0.1");
const EVENTS = "*/w/f/runs/r/events";

async function heard(signal = new AbortController().signal): Promise<Heard[]> {
  const found: Heard[] = [];
  for await (const one of transport().hear("r", signal)) found.push(one);
  return found;
}

function busy(times: number) {
  let asked = 0;
  server.use(
    http.get(EVENTS, () => {
      asked += 1;
      return asked <= times
        ? HttpResponse.json(
            { code: "rate_limited", detail: "Too many." },
            { status: 429, headers: { "retry-after": "5" } },
          )
        : new HttpResponse('event: done\ndata: {"text":"x"}\n\n', { headers: { "content-type": "text/event-stream" } });
    }),
  );
  return () => asked;
}

describe("a result that finds no place", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => vi.useRealTimers());

  it("is asked for again when the server says", async () => {
    const asked = busy(2);
    const result = heard();
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(asked()).toBe(3);
    });
    expect(await result).toEqual([{ kind: "done", text: "x" }]);
  });

  it("is given up after a while, in the server's words", async () => {
    busy(Number.POSITIVE_INFINITY);
    const result = heard().catch((error: unknown) => error);
    let over = false;
    void result.then(() => {
      over = true;
    });
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(over).toBe(true);
    });
    expect(await result).toBeInstanceOf(Refused);
    expect(await result).toMatchObject({ message: "Too many." });
  });

  it("is not waited for any more once it was stopped", async () => {
    const asked = busy(Number.POSITIVE_INFINITY);
    const control = new AbortController();
    const result = heard(control.signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(asked()).toBe(1));
    await vi.advanceTimersByTimeAsync(1_000);
    control.abort();
    expect(await result).toMatchObject({ name: "AbortError" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(1);
  });
});
