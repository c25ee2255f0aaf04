import { describe, expect, it } from "vitest";
import type { Schema } from "@/lib/wiring";
import { newMember, schemaOfExample, toSchema, toTree } from "./schemaTree";

const SIMPLE: Schema = {
  type: "object",
  properties: {
    name: { type: "string", description: "Whose case it is" },
    kind: { type: "string", enum: ["new", "old"] },
    people: {
      type: "array",
      items: { type: "object", properties: { age: { type: "integer" } }, required: ["age"] },
    },
    rest: {},
    tags: { type: "array", items: { type: "string" }, description: "All of them" },
  },
  required: ["name", "people"],
};

describe("a schema as a tree", () => {
  it("goes there and back unchanged", () => {
    const tree = toTree(SIMPLE);
    expect(tree?.members.map((member) => [member.name, member.type, member.list, member.required])).toEqual([
      ["name", "string", false, true],
      ["kind", "string", false, false],
      ["people", "object", true, true],
      ["rest", "any", false, false],
      ["tags", "string", true, false],
    ]);
    expect(tree && toSchema(tree)).toEqual(SIMPLE);
  });

  it.each<[string, Schema]>([
    ["several types", { type: ["string", "null"] }],
    ["a closed object", { type: "object", additionalProperties: false }],
    ["a list of lists", { type: "array", items: { type: "array" } }],
    ["choices that are numbers", { type: "integer", enum: [1, 2] }],
    ["a keyword it does not know", { type: "string", minLength: 2 }],
    ["a required field that it does not name", { type: "object", required: ["a"] }],
    ["a null", { type: "null" }],
  ])("is none where the schema has %s: only JSON keeps it", (_, schema) => {
    expect(toTree(schema)).toBeNull();
    expect(toTree({ type: "object", properties: { inner: schema } })).toBeNull();
  });

  it("leaves fields without a name out of the schema", () => {
    const tree = toTree({ type: "object" });
    const named = newMember(" total ");
    expect(tree && toSchema({ ...tree, members: [newMember(""), named] })).toEqual({
      type: "object",
      properties: { total: { type: "string" } },
      required: ["total"],
    });
  });
});

describe("the schema of an example", () => {
  it("requires what the example has", () => {
    expect(schemaOfExample({ a: 1, b: { c: "x", d: [true] }, e: null })).toEqual({
      type: "object",
      properties: {
        a: { type: "integer" },
        b: {
          type: "object",
          properties: { c: { type: "string" }, d: { type: "array", items: { type: "boolean" } } },
          required: ["c", "d"],
        },
        e: {},
      },
      required: ["a", "b", "e"],
    });
  });

  it("of a list requires what all its items have", () => {
    expect(
      schemaOfExample([
        { a: 1, b: 2 },
        { a: 1.5, c: "x" },
      ]),
    ).toEqual({
      type: "array",
      items: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "integer" }, c: { type: "string" } },
        required: ["a"],
      },
    });
  });

  it("says nothing of items that have nothing in common", () => {
    expect(schemaOfExample([1, "a"])).toEqual({ type: "array", items: {} });
  });
});
