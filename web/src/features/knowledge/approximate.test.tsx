import { screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { BASE, openPage, serve } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

describe("a base with many passages", () => {
  it("says how much an approximate search finds", async () => {
    serve().bases = [
      { ...BASE, embedding_model: "openai/small", searched_model: "openai/small", vector_recall: 0.968 },
    ];
    openPage("/knowledge/b1");
    expect(
      await screen.findByText("Approximate search: finds 96% of the nearest passages, as measured."),
    ).toBeInTheDocument();
  });
});
