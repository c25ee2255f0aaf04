import { expect, it } from "vitest";
import { forgetSample, keepSample, sampleOf } from "./sample";
import { writeStored } from "./storage";

it("keeps the sample data of a flow until its first run", () => {
  keepSample("f1", { text: "Hello", form: { amount: 12 } }, ["file"]);
  expect(sampleOf("f1")).toEqual({ text: "Hello", form_data: { amount: 12 }, file_ids: ["file"] });
  expect(sampleOf("f2")).toBeNull();
  forgetSample("f1");
  expect(sampleOf("f1")).toBeNull();
});

it("keeps nothing where a template brings nothing", () => {
  keepSample("f3", {}, []);
  expect(sampleOf("f3")).toBeNull();
});

it("takes nothing of another shape from the browser's storage", () => {
  writeStored("chat.sample.f4", { text: 4, file_ids: "no" });
  expect(sampleOf("f4")).toBeNull();
});
