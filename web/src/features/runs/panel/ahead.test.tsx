import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { afterEach, expect, it, vi } from "vitest";
import { i18next } from "@/lib/i18n/i18n";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { LookAhead } from "./LookAhead";

const STEP = { type: "Any", runs: "certain", inputs: [], models: [], tools: [] };
const MAIL = {
  effect: "Sends a mail to {a}@b.example, subject 'Hi', with the connection 'office'.",
  effect_pattern: "Sends a mail to {to}, subject '{subject}', with the connection '{server}'.",
  effect_values: { to: "{a}@b.example", subject: "Hi", server: "office" },
};
const PATH = [
  { waits_for: { reason: "approval", seconds: 7 * 24 * 3600 } },
  { waits_for: { reason: "approval", tools: ["pay", "delete"] } },
  { waits_for: { reason: "event", event: "paid", seconds: 7200 } },
  { waits_for: { reason: "time", until: "2026-12-01 08:00" } },
  { waits_for: { reason: "time", cron: "0 7 * * *" } },
  { waits_for: { reason: "time", seconds: 90 } },
  { waits_for: { reason: "time" } },
  MAIL,
];

const totals = { steps: 8, certain_steps: 8, model_steps: 0, tokens_input_at_least: 0, cost_usd_at_least: null };

function open(steps: object[] = PATH) {
  const path = steps.map((step, index) => ({
    ...STEP,
    step_id: `s${index}`,
    order: index + 1,
    label: `S${index}`,
    ...step,
  }));
  const ahead = { ok: true, findings: [], path, reach: { hosts: [], secrets: [] }, totals };
  server.use(http.post("*/api/v1/flows/flow-1/dry-run", () => HttpResponse.json(ahead)));
  renderStudio(<LookAhead flowId="flow-1" start={{}} onClose={vi.fn()} onNode={vi.fn()} />);
}

afterEach(() => i18next.changeLanguage("en"));

it("shows what steps would wait for and do", async () => {
  open();
  expect(await screen.findByText("Waits for approval, at most 7 d 0 h")).toBeVisible();
  for (const line of [
    "Waits for approval of calls of pay or delete",
    "Waits for the event paid, at most 2 h 0 min",
    "Waits until 2026-12-01 08:00",
    "Waits for the next time of 0 7 * * *",
    "Waits 1 min 30 s",
    "Waits; how long depends on the data",
    MAIL.effect,
  ])
    expect(screen.getByText(line)).toBeVisible();
});

it("shows them in Swedish", async () => {
  await i18next.changeLanguage("sv");
  open();
  expect(await screen.findByText("Väntar på godkännande, högst 7 d 0 h")).toBeVisible();
  expect(screen.getByText("Skickar e-post till {a}@b.example med ämnet ”Hi” via anslutningen ”office”.")).toBeVisible();
});

const CALLED = {
  ok: true,
  findings: [],
  path: [{ ...STEP, ...MAIL, step_id: "mail", order: 1, label: "Write" }],
  reach: { hosts: [], secrets: [] },
  totals,
};
const CALL = { node: "s0", flow_id: "f", version: 3, name: "Score" };
const PAID = { ...totals, model_steps: 1, tokens_input_at_least: 1200, cost_usd_at_least: 0.25 };
const CALLS = [
  { calls: [{ ...CALL, repeats: "round", at_least: 1, at_most: 5, totals: PAID, preview: CALLED }] },
  { calls: [{ ...CALL, repeats: "item", at_least: 0, at_most: null, shown_before: true }] },
  { calls: [{ ...CALL, repeats: "item", at_least: 7, at_most: 7, problem: "unavailable" }] },
  { calls: [{ ...CALL, repeats: "once", at_least: 1, at_most: 1, problem: "cycle", trail: ["A", "Score", "A"] }] },
];

it("shows the flows that steps would run, how often, what a run costs and what is wrong", async () => {
  open(CALLS);
  expect(await screen.findByText(/Runs Score, version 3: up to 5 rounds\./)).toBeVisible();
  expect(screen.getByText(/Each run at least .*0\.25 for 1,200 tokens/)).toBeVisible();
  for (const line of [
    MAIL.effect,
    "Runs Score, version 3: per item.",
    "Its steps are shown above.",
    "Runs Score, version 3: 7 items.",
    "It is not published, or you may not run it.",
    "It leads back to a flow that runs it: A → Score → A",
  ])
    expect(screen.getByText(line)).toBeVisible();
});

it("shows the flows that steps would run in Swedish", async () => {
  await i18next.changeLanguage("sv");
  open(CALLS);
  expect(await screen.findByText(/Kör Score, version 3: högst 5 varv\./)).toBeVisible();
  expect(screen.getByText("Skickar e-post till {a}@b.example med ämnet ”Hi” via anslutningen ”office”.")).toBeVisible();
});
