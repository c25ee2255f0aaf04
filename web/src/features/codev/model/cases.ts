import type { TestCase } from "@/api/queries/codev";
import type { SayCodev } from "../texts";
import { lines, list, record, words } from "./read";

export type Expected = NonNullable<TestCase["expect"]>;

/** Test cases of a plan; one without a name is none. */
export const readCases = (value: unknown): TestCase[] =>
  list(value)
    .map((one) => record(one))
    .filter((one) => words(one.name))
    .map((one) => {
      const expect = record(one.expect);
      return {
        name: words(one.name),
        text: words(one.text),
        form: record(one.form) as NonNullable<TestCase["form"]>,
        expect: {
          contains: lines(expect.contains),
          excludes: lines(expect.excludes),
          equals: typeof expect.equals === "string" ? expect.equals : null,
          matches: typeof expect.matches === "string" ? expect.matches : null,
          json_schema:
            typeof expect.json_schema === "object" && expect.json_schema !== null
              ? (expect.json_schema as NonNullable<Expected["json_schema"]>)
              : null,
        },
      };
    });

/** What a case expects, in words, a line each. */
export function expectWords(t: SayCodev, expect: Expected | undefined): string[] {
  const { contains = [], excludes = [], equals, matches, json_schema } = expect ?? {};
  const quoted = (text: string) => t("quoted", { text });
  const said = [
    ...contains.map((text) => t("expects_contains", { text: quoted(text) })),
    ...excludes.map((text) => t("expects_excludes", { text: quoted(text) })),
    ...(typeof equals === "string" ? [t("expects_equals", { text: quoted(equals) })] : []),
    ...(matches ? [t("expects_matches", { text: matches })] : []),
    ...(json_schema ? [t("expects_schema")] : []),
  ];
  return said.length > 0 ? said : [t("expects_any")];
}

/** What a case is while it is written: lists are lines. */
export interface CaseForm {
  name: string;
  text: string;
  contains: string;
  excludes: string;
  equals: string;
  matches: string;
}

export const toForm = (one: TestCase | null): CaseForm => ({
  name: one?.name ?? "",
  text: one?.text ?? "",
  contains: (one?.expect?.contains ?? []).join("\n"),
  excludes: (one?.expect?.excludes ?? []).join("\n"),
  equals: one?.expect?.equals ?? "",
  matches: one?.expect?.matches ?? "",
});

const split = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** The case that was written; what the form does not show stays as it was. */
export const fromForm = (form: CaseForm, before: TestCase | null): TestCase => ({
  name: form.name.trim(),
  text: form.text,
  form: before?.form ?? {},
  expect: {
    contains: split(form.contains),
    excludes: split(form.excludes),
    equals: form.equals.trim() ? form.equals : null,
    matches: form.matches.trim() || null,
    json_schema: before?.expect?.json_schema ?? null,
  },
});
