import { expect, test } from "vitest";
import { newPoll, pollOf } from "./polls";

test("a poll is stored once all that its kind needs is there", () => {
  expect(pollOf("feed", newPoll())).toBeNull();
  const draft = { ...newPoll(), values: { url: " https://example.org/feed ", sql: "of another kind" } };
  expect(pollOf("feed", draft)).toEqual({
    kind: "feed",
    url: "https://example.org/feed",
    every_seconds: 300,
    first: "now",
  });
  expect(pollOf("feed", { ...draft, minutes: "0" })).toBeNull();
  expect(pollOf("feed", { ...draft, minutes: "1.51" })).toBeNull();
  expect(pollOf("feed", { ...draft, minutes: "1.5" })?.every_seconds).toBe(90);
});

test("mail says whether it is marked as read", () => {
  const draft = { ...newPoll(), values: { connection: "inbox" }, textFrom: "subject", markSeen: false };
  expect(pollOf("mail", draft)).toMatchObject({ connection: "inbox", text_from: "subject", mark_seen: false });
});
