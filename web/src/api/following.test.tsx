import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { server } from "@/testing/server";
import { type Connection, follow } from "./following";

it("a line on which nothing happens is up, and told to be", async () => {
  let asked = 0;
  server.use(
    http.get("*/events", () => {
      asked += 1;
      if (asked === 1) return HttpResponse.error();
      const beat = (line: ReadableStreamDefaultController) =>
        line.enqueue(new TextEncoder().encode(": still here\n\n"));
      return new HttpResponse(new ReadableStream({ start: beat }), {
        headers: { "content-type": "text/event-stream" },
      });
    }),
  );
  const ending = new AbortController();
  const told: Connection[] = [];
  await new Promise<void>((up) => {
    void follow({
      path: `${window.location.origin}/events`,
      onEvent: () => undefined,
      onConnection: (state) => {
        told.push(state);
        if (state === "live") up();
      },
      signal: ending.signal,
    });
  });
  expect(told).toEqual(["reconnecting", "live"]);
  ending.abort();
});
