import { expect, test } from "vitest";
import { newDraft, triggerOf } from "./draft";
import { guessed, mappedOf, newMapped } from "./mapped";
import { newPoll } from "./polls";

const FIELDS = [
  { id: "subject", label: "Subject" },
  { id: "from", label: "Sender" },
  { id: "urgent", label: "Urgent" },
];

test("questions that have the name of a part of the item are answered by it", () => {
  expect(guessed("mail", FIELDS, newMapped())).toEqual({ text: "", form: { subject: "subject", from: '"from"' } });
  expect(guessed("webhook", [{ id: "body" }], newMapped()).form).toEqual({});
  expect(guessed("schedule", FIELDS, newMapped()).form).toEqual({});
});

test("the text of a changed page is its text, unless the user writes another part or none", () => {
  expect(guessed("page", [], newMapped()).text).toBe("text");
  expect(guessed("page", [], { text: "title", form: {} }).text).toBe("title");
  expect(guessed("page", [], { text: "", form: {} }).text).toBe("");
});

test("what the user removes stays removed, and is not sent", () => {
  const draft = guessed("mail", FIELDS, { text: " text ", form: { subject: "", urgent: " flags[0] " } });
  expect(mappedOf(draft)).toEqual({ text_from: "text", form_from: { from: '"from"', urgent: "flags[0]" } });
  expect(mappedOf(newMapped())).toEqual({});
});

test("polls and calls send their parts", () => {
  const mapped = { text: "title", form: { subject: "title" } };
  const feed = { ...newDraft(), name: "News", kind: "feed" as const, mapped };
  const poll = { ...newPoll(), values: { url: "https://example.org/feed" } };
  const parts = { text_from: "title", form_from: { subject: "title" } };
  expect(triggerOf({ ...feed, poll })?.config).toMatchObject(parts);
  expect(triggerOf({ ...feed, kind: "webhook" })?.config).toMatchObject(parts);
  expect(triggerOf(feed)).toBeNull();
});
