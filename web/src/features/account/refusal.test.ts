import { describe, expect, it } from "vitest";
import { ApiError } from "@/api/problem";
import { refusalOf, said, wrongPassword } from "./refusal";

const problem = (status: number, code: string, more = {}) =>
  new ApiError(status, { code, title: "", status, detail: "<b>hostile</b>", ...more });

describe("refusals", () => {
  it("are texts of ours, whatever the server says", () => {
    expect(refusalOf(problem(401, "sign_in_refused")).text).toBe("error_sign_in_refused");
    expect(refusalOf(problem(500, "internal_error")).text).toBe("error_general");
    expect(refusalOf(problem(429, "rate_limited", { retry_after_seconds: 12 }))).toMatchObject({
      text: "error_rate_limited",
      seconds: 12,
    });
    expect(refusalOf(new ApiError(0, { code: "offline", title: "", status: 0, detail: "" })).text).toBe(
      "error_offline",
    );
  });
  it("name the organisations to choose from", () => {
    const found = refusalOf(problem(409, "organisation_needed", { organisations: ["North", "South"] }));
    expect(found.organisations).toEqual(["North", "South"]);
  });
  it("never take a word of the address", () => {
    expect(said("constructor", "error_single_sign_on").text).toBe("error_single_sign_on");
    expect(said("sso_lost").text).toBe("error_sso_lost");
  });
});

describe("a new password", () => {
  it("is long enough, and the same twice", () => {
    expect(wrongPassword("", "x")).toBe("error_empty");
    expect(wrongPassword("short", "short")).toBe("error_password_short");
    expect(wrongPassword("correct horse", "correct house")).toBe("error_differ");
    expect(wrongPassword("correct horse", "correct horse")).toBeNull();
  });
});
