import type { TestCase } from "@/api/queries/codev";
import { lines, list, record, words } from "./read";

type Expected = NonNullable<TestCase["expect"]>;

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
          reference: typeof expect.reference === "string" ? expect.reference : null,
          supported: expect.supported === true,
        },
      };
    });
