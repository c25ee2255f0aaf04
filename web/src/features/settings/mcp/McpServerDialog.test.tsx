import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { McpServerDialog } from "./McpServerDialog";

const URL = `${window.location.origin}/api/v1/mcp-registry`;
const WEATHER = {
  name: "io.github.example/weather",
  title: "Weather",
  description: "Forecasts.",
  version: "1.2.0",
  url: "https://weather.example.org/mcp",
  headers: [{ name: "X-Api-Key", description: "", required: true }],
  suggested_name: "weather",
};

test("a server of the registry fills in name, address and headers", async () => {
  const searched: (string | null)[] = [];
  server.use(
    http.get(URL, ({ request }) => {
      searched.push(new globalThis.URL(request.url).searchParams.get("search"));
      return HttpResponse.json({ configured: true, items: [WEATHER], omitted: 2, more: false });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<McpServerDialog spaceId="s1" onClose={() => undefined} />);
  await user.type(await screen.findByRole("searchbox", { name: "Part of the server's name" }), "weat{Enter}");
  await user.click(await screen.findByRole("button", { name: /Weather/ }));
  expect(screen.getByPlaceholderText("weather")).toHaveValue("weather");
  expect(screen.getByRole("textbox", { name: /Address/ })).toHaveValue(WEATHER.url);
  expect(screen.getByDisplayValue("X-Api-Key")).toBeVisible();
  expect(screen.getByText("Not listed, because they have no usable address (such as programs): 2.")).toBeVisible();
  expect(searched).toEqual(["", "weat"]);
});

test("without a registry there is nothing to search", async () => {
  server.use(http.get(URL, () => HttpResponse.json({ configured: false, items: [], omitted: 0, more: false })));
  renderStudio(<McpServerDialog spaceId="s1" onClose={() => undefined} />);
  expect(await screen.findByRole("textbox", { name: /Address/ })).toBeVisible();
  expect(screen.queryByRole("searchbox")).toBeNull();
});
