import type { TestCase } from "@/api/queries/tests";

/** One thing that has to hold for an answer, as it is edited: a kind and a text. */
export interface Expected {
  key: number;
  kind: Kind;
  text: string;
}

/** What the text of the answer alone decides. */
export const TEXT_KINDS = [
  "contains",
  "excludes",
  "equals",
  "matches",
  "json_schema",
  "reference",
  "supported",
] as const;
export const KINDS = [...TEXT_KINDS, "documents", "criterion", "judge_model"] as const;
export type Kind = (typeof KINDS)[number];
/** Kinds of which there is one at most. */
export const ONCE: readonly Kind[] = [
  "equals",
  "matches",
  "json_schema",
  "reference",
  "supported",
  "criterion",
  "judge_model",
];

type Expect = NonNullable<TestCase["expect"]>;

/** What a case expects, one after the other. */
export function listed(expect: TestCase["expect"]): Expected[] {
  const { contains = [], excludes = [], documents = [], equals, matches, json_schema, ...more } = expect ?? {};
  const found: [Kind, string][] = [
    ...contains.map((text): [Kind, string] => ["contains", text]),
    ...excludes.map((text): [Kind, string] => ["excludes", text]),
  ];
  if (typeof equals === "string") found.push(["equals", equals]);
  if (typeof matches === "string") found.push(["matches", matches]);
  if (json_schema) found.push(["json_schema", JSON.stringify(json_schema, null, 2)]);
  if (typeof more.reference === "string") found.push(["reference", more.reference]);
  found.push(...documents.map((text): [Kind, string] => ["documents", text]));
  if (more.supported) found.push(["supported", ""]);
  if (typeof more.criterion === "string") found.push(["criterion", more.criterion]);
  if (more.judge_model) found.push(["judge_model", more.judge_model]);
  return found.map(([kind, text], key) => ({ key, kind, text }));
}

/** What is sent; what was left empty asks for nothing. Throws `SyntaxError` for a schema that is no JSON object. */
export function expectOf(list: readonly Expected[]): Expect {
  const texts = (kind: Kind) => list.filter((one) => one.kind === kind && one.text !== "").map((one) => one.text);
  const schema = texts("json_schema")[0];
  return {
    contains: texts("contains"),
    excludes: texts("excludes"),
    equals: texts("equals")[0] ?? null,
    matches: texts("matches")[0] ?? null,
    json_schema: schema === undefined ? null : asObject(schema),
    reference: texts("reference")[0] ?? null,
    documents: texts("documents"),
    supported: list.some(({ kind }) => kind === "supported"),
    criterion: texts("criterion")[0] ?? null,
    judge_model: texts("judge_model")[0]?.trim() ?? "",
  };
}

/** Whether a row asks for a judge that no other row names, or names one that has nothing to judge by. */
export function lacksPartner(row: Expected, rows: readonly Expected[]): boolean {
  const has = (...kinds: Kind[]) => rows.some(({ kind, text }) => kinds.includes(kind) && text.trim() !== "");
  if (row.text.trim() === "") return false;
  if (row.kind === "criterion") return !has("judge_model");
  return row.kind === "judge_model" && !has("reference", "criterion");
}

function asObject(text: string): NonNullable<Expect["json_schema"]> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("not an object");
  return value as NonNullable<Expect["json_schema"]>;
}

/** Whether a text is the JSON object that a schema is. */
export function isSchema(text: string): boolean {
  try {
    asObject(text);
    return true;
  } catch {
    return false;
  }
}

/** A name that no case of the set has yet. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  let number = 2;
  while (taken.includes(`${wanted} ${number}`)) number += 1;
  return `${wanted} ${number}`;
}
