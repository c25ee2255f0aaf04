import { expect, test } from "vitest";
import { formDraftOf, formOf, localInput, newForm } from "./forms";

test("a form is stored once what follows a submission is there", () => {
  expect(formOf(newForm())).toMatchObject({ kind: "form", access: "anyone", redirect_url: null, closes_at: null });
  expect(formOf({ ...newForm(), after: "redirect", redirect: "example.org" })).toBeNull();
  expect(formOf({ ...newForm(), most: "0" })).toBeNull();
  const redirect = { ...newForm(), after: "redirect" as const, redirect: " https://example.org ", text: "left" };
  expect(formOf(redirect)).toMatchObject({ redirect_url: "https://example.org", after_text: "" });
});

test("a stored form is written as it was", () => {
  const draft = { ...newForm(), access: "links" as const, title: "Ask", closes: "2030-01-02T03:04", most: "7" };
  const stored = formOf(draft);
  expect(stored && formDraftOf(stored)).toEqual(draft);
  expect(localInput(new Date("2030-01-02T03:04").toISOString())).toBe("2030-01-02T03:04");
});
