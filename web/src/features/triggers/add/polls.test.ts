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
  const draft = { ...newPoll(), values: { connection: "inbox" }, markSeen: false, idle: false };
  expect(pollOf("mail", draft)).toMatchObject({ connection: "inbox", mark_seen: false, idle: false });
});

test("rows say how many of the last ones are read again", () => {
  const values = { connection: "db", sql: "SELECT id FROM orders", cursor_column: "id" };
  expect(pollOf("rows", { ...newPoll(), values })).toMatchObject({ look_back: 200 });
  expect(pollOf("rows", { ...newPoll(), values, lookBack: "0" })).toMatchObject({ look_back: 0 });
  for (const lookBack of ["", "1001", "-1", "1.5", "all"]) {
    expect(pollOf("rows", { ...newPoll(), values, lookBack })).toBeNull();
  }
  expect(pollOf("feed", { ...newPoll(), values: { url: "https://example.org" }, lookBack: "" })).not.toHaveProperty(
    "look_back",
  );
});

test("a folder is watched unless it is switched off", () => {
  expect(pollOf("folder", newPoll())).toMatchObject({ watch: true });
  expect(pollOf("folder", { ...newPoll(), watch: false })).toMatchObject({ watch: false });
});
