import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { useState } from "react";
import { beforeEach, describe, expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { type Pairs, PairsEditor } from "./PairsEditor";

const SAVED = { name: "CRM_TOKEN", space_id: "space-1", secret: true, hosts: null, updated_at: "" };
let now: Pairs = {};

beforeEach(() => {
  server.use(
    http.get(`${window.location.origin}/api/v1/variables`, () =>
      HttpResponse.json({ items: [SAVED], next_cursor: null }),
    ),
  );
});

function Editor({ secrets }: { secrets: boolean }) {
  const [value, setValue] = useState<Pairs>({ "X-Team": "CRM_TOKEN" });
  now = value;
  return <PairsEditor label="Headers" value={value} secrets={secrets} onChange={setValue} />;
}

describe("PairsEditor", () => {
  it("offers text or a secret for each value, and keeps no row that refers to none yet", async () => {
    renderStudio(<Editor secrets />);
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await userEvent.type(screen.getByLabelText("Name 2"), "Authorization");
    await userEvent.click(within(screen.getByLabelText("Type of value 2")).getByText("Secret"));
    expect(now).toEqual({ "X-Team": "CRM_TOKEN" });
    await userEvent.click(screen.getByLabelText("Value 2"));
    await userEvent.click(await screen.findByRole("option", { name: "CRM_TOKEN" }));
    expect(now).toEqual({ "X-Team": "CRM_TOKEN", Authorization: { secret: "CRM_TOKEN", scheme: "Bearer" } });
    await userEvent.clear(screen.getByLabelText("Scheme 2"));
    expect(now).toEqual({ "X-Team": "CRM_TOKEN", Authorization: { secret: "CRM_TOKEN" } });
  });

  it("offers text alone where no secret may be", () => {
    renderStudio(<Editor secrets={false} />);
    expect(screen.queryByLabelText("Type of value 1")).toBeNull();
  });
});
