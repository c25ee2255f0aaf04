import { describe, expect, it } from "vitest";
import type { Standing, TestSet } from "@/api/queries/tests";
import type { DryRunOut } from "@/api/queries/versions";
import { checksOf, hasErrors, testsCheck } from "./checks";

const dryRun = (findings: Partial<DryRunOut["findings"][number]>[]) =>
  ({ findings: findings.map((one) => ({ severity: "error", code: "", message: "", ...one })) }) as DryRunOut;
const named = (checks: ReturnType<typeof checksOf>, name: string) => checks.find((one) => one.name === name);

describe("checks before publishing", () => {
  it("sort what a look ahead found by what it is about, with its node", () => {
    const checks = checksOf(
      [],
      dryRun([
        { code: "classification", message: "K3 leaves", node: "post" },
        { code: "variable_not_found", message: "no KEY", remedy: "set it", node: "get" },
        { code: "invalid_value", message: "line 3 of 'code' of node 'x': import os." },
        { code: "invalid_value", message: "too small" },
        { code: "model_unknown", severity: "warning" },
      ]),
    );
    expect(named(checks, "classes")?.found[0]).toMatchObject({ nodeId: "post", message: "K3 leaves" });
    expect(named(checks, "secrets")?.found[0]).toMatchObject({ remedy: "set it", nodeId: "get" });
    expect(named(checks, "code")?.found).toHaveLength(1);
    expect(named(checks, "flow")?.found).toHaveLength(1);
    const models = named(checks, "models");
    expect(models?.found).toHaveLength(1);
    expect(models && hasErrors(models)).toBe(false);
  });

  it("take the draft's own issues while nothing looked ahead", () => {
    const checks = checksOf([{ code: "contract", message: "wrong", node: "a" }], undefined);
    expect(named(checks, "contracts")?.found[0]).toMatchObject({ nodeId: "a", severity: "error" });
    expect(checks.filter((one) => one.found.length > 0)).toHaveLength(1);
  });
});

describe("the check of a flow's tests", () => {
  const tests = (required: boolean, state: Standing["state"]): TestSet => ({
    revision: "",
    cases: [],
    required,
    required_trials: 1,
    standing: { state, failed: ["greets"] },
    running: null,
  });

  it("is there only where the flow requires it, and names what failed", () => {
    const say = (state: string, names: string) => `${state} ${names}`;
    expect(testsCheck(undefined, say)).toEqual([]);
    expect(testsCheck(tests(false, "failed"), say)).toEqual([]);
    expect(testsCheck(tests(true, "passed"), say)).toEqual([{ name: "tests", found: [] }]);
    const [failed] = testsCheck(tests(true, "failed"), say);
    expect(failed && hasErrors(failed)).toBe(true);
    expect(failed?.found[0]?.message).toBe("failed greets");
  });
});
