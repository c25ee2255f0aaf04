import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { KeyDialog } from "./keys/KeyDialog";
import { InviteDialog } from "./members/InviteDialog";

vi.setConfig({ testTimeout: 20_000 });

const KEY = "hg_shown-this-once";
const LINK = { url: "http://studio.example/set-password#token=t", expires_at: "2026-12-01T00:00:00Z" };

describe("a new key", () => {
  it("asks for what was chosen, shows the key once and is gone when it is closed", async () => {
    const asked = vi.fn();
    server.use(
      http.post("*/api/v1/api-keys", async ({ request }) => {
        asked(await request.json());
        return HttpResponse.json({ id: "k", name: "Nightly", key: KEY }, { status: 201 });
      }),
    );
    const closed = vi.fn();
    const user = userEvent.setup();
    renderStudio(<KeyDialog onClose={closed} />);
    const make = screen.getByRole("button", { name: "Create an API key" });
    expect(make).toBeDisabled();
    await user.type(screen.getByLabelText(/Name/), " Nightly {Enter}");
    expect(await screen.findByTestId("new-key")).toHaveTextContent(KEY);
    expect(asked).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: "Nightly", scopes: ["runner"], space_ids: null }),
    );
    expect(screen.queryByRole("button", { name: "Create an API key" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "I have saved it" }));
    expect(closed).toHaveBeenCalledOnce();
  });

  it("keeps what was typed when the server refuses, and says why", async () => {
    server.use(
      http.post("*/api/v1/api-keys", () =>
        HttpResponse.json(
          { code: "too_many_keys", title: "Too many", detail: "You have 50 keys.", remedy: "Revoke one." },
          { status: 409 },
        ),
      ),
    );
    const user = userEvent.setup();
    renderStudio(<KeyDialog onClose={vi.fn()} />);
    await user.type(screen.getByLabelText(/Name/), "Nightly{Enter}");
    expect(await screen.findByText(/You have 50 keys\./)).toBeInTheDocument();
    expect(screen.getByLabelText(/Name/)).toHaveValue("Nightly");
    expect(screen.queryByTestId("new-key")).toBeNull();
  });
});

describe("an invitation", () => {
  it("is for an address, as an ordinary member, and gives the link once", async () => {
    const asked = vi.fn();
    server.use(
      http.post("*/api/v1/users", async ({ request }) => {
        asked(await request.json());
        return HttpResponse.json({ user: { id: "u" }, link: LINK }, { status: 201 });
      }),
    );
    const user = userEvent.setup();
    renderStudio(<InviteDialog onClose={vi.fn()} />);
    await user.type(screen.getByLabelText(/E-mail address/), "bo{Enter}");
    expect(asked).not.toHaveBeenCalled();
    await user.type(screen.getByLabelText(/E-mail address/), "@example.org{Enter}");
    expect(await screen.findByTestId("one-time-link")).toHaveTextContent(LINK.url);
    expect(asked).toHaveBeenCalledExactlyOnceWith({ email: "bo@example.org", name: null, role: "member" });
  });
});
