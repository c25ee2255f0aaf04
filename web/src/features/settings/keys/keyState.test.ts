import { describe, expect, it } from "vitest";
import { endOf, keyState } from "./keyState";

const NOW = Date.UTC(2026, 0, 1);

describe("keys", () => {
  it("work until they end or are revoked", () => {
    expect(keyState({ revoked_at: null, expires_at: null }, NOW)).toBe("works");
    expect(keyState({ revoked_at: null, expires_at: "2026-01-01T00:00:00Z" }, NOW)).toBe("expired");
    expect(keyState({ revoked_at: "2025-01-01T00:00:00Z", expires_at: null }, NOW)).toBe("revoked");
  });
  it("end when they are to", () => {
    expect(endOf("7", NOW)).toBe("2026-01-08T00:00:00.000Z");
    expect(endOf("never", NOW)).toBeNull();
  });
});
