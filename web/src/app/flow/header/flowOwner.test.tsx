import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { FlowOwner } from "./FlowOwner";

/** The owner of a flow, for Ada, where the organisation has Ada and Grace. */
function show(owner_user_id: string | null, people = 200) {
  const items = [
    { id: "ada", name: "Ada", email: "ada@example.org" },
    { id: "grace", name: "", email: "grace@example.org" },
  ];
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: { id: "ada" }, permissions: {}, spaces: [] })),
    http.get("*/api/v1/flows/flow-1", () => HttpResponse.json({ ...flowOut({}), owner_user_id })),
    http.get("*/api/v1/users", () => HttpResponse.json({ items, title: "Away", status: people }, { status: people })),
  );
  renderStudio(<FlowOwner />);
}

it("is named, and is you where it is you", async () => {
  show("ada");
  expect(await screen.findByText("Ada (you)")).toBeInTheDocument();
});

it("has an address where there is no name", async () => {
  show("grace");
  expect(await screen.findByText("grace@example.org")).toBeInTheDocument();
});

it("is nobody where the owner was deleted", async () => {
  show(null);
  expect(await screen.findByText("No owner")).toBeInTheDocument();
});

it("is not guessed where the users cannot be read", async () => {
  show("ada", 503);
  expect(await screen.findByText("The owner could not be read")).toBeInTheDocument();
});
