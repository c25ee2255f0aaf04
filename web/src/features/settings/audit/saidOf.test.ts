import { describe, expect, it } from "vitest";
import type { SettingsText } from "../texts";
import { nameOf, purposeOf, spelledOut, textOf } from "./saidOf";

describe("an action of the audit log", () => {
  it("has a text of its own", () => {
    expect(textOf("flow.draft_saved")).toBe("did_flow_draft_saved");
  });
  it("is spelled out where the page does not know it", () => {
    expect(textOf("space.moved_on")).toBeNull();
    expect(textOf("toString")).toBeNull();
    expect(spelledOut("space.moved_on")).toBe("Space moved on");
  });
});

describe("a read of a secret", () => {
  const say = (text: SettingsText, values?: Record<string, string>) => `${text} ${values?.name ?? ""}`.trim();

  it("says what it was for", () => {
    const of = (payload: unknown) => purposeOf({ action: "variable.read", payload } as never);
    expect(of({ purpose: "assistant", source: "space" })).toBe("read_for_assistant");
    expect(of({ run_id: "1", source: "space" })).toBe("read_for_run");
    expect(of({ purpose: "of_tomorrow" })).toBeNull();
    expect(purposeOf({ action: "variable.set", payload: { purpose: "test" } } as never)).toBeNull();
  });
  it("names the server that values are stored with", () => {
    expect(nameOf({ kind: "variable", id: "mcp_server:crm", name: "mcp_server:crm" } as never, say)).toBe(
      "values_of_mcp_server crm",
    );
    expect(nameOf({ kind: "variable", id: "TOKEN", name: "TOKEN" } as never, say)).toBe("TOKEN");
    expect(nameOf({ kind: "user", id: "1:2", name: "Ada" } as never, say)).toBe("Ada");
  });
});
