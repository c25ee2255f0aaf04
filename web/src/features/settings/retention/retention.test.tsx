import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { MaintenanceJob, MaintenanceState } from "@/api/queries/maintenance";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { RetentionSection } from "./RetentionSection";

vi.setConfig({ testTimeout: 20_000 });

const ME = { permissions: { tenant: ["maintenance.run"], every_space: [], spaces: [] }, user: {}, spaces: [] };
const NOTHING = { runs: 0, sessions: 0, artifacts: 0 };
const RETENTION: MaintenanceJob = {
  name: "retention",
  summary: "Deletes runs.",
  due_at: new Date(Date.now() + 3 * 86_400_000).toISOString(),
  started_at: null,
  finished_at: null,
  deleted: NOTHING,
  error: null,
};

function serve(state: () => Partial<MaintenanceState>) {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json(ME)),
    http.get("*/api/v1/maintenance", () =>
      HttpResponse.json({
        run_days: null,
        session_days: 90,
        waiting_session_days: 365,
        jobs: [],
        encryption: OFF,
        backup: NO_BACKUP,
        ...state(),
      }),
    ),
  );
}

const NO_BACKUP = { last_at: null, every_hours: null, overdue: false };

it.each([
  [NO_BACKUP, /^No backup yet· Make one with headgate backup create\.$/],
  [
    { last_at: "2026-11-20T10:00:00Z", every_hours: 24, overdue: false },
    /^Last backup .*2026.*· Scheduled every 24 hours\.$/,
  ],
  [{ last_at: null, every_hours: 1, overdue: true }, /every hour\.The scheduled backup is overdue/],
])("shows the last backup: %o", async (backup, words) => {
  serve(() => ({ backup }));
  renderStudio(<RetentionSection />);
  expect((await screen.findByText("Backup")).nextElementSibling).toHaveTextContent(words);
});

const OFF = { encrypted: false, since: null, destroyed_at: null };

it.each([
  [OFF, /^Off/],
  [{ ...OFF, encrypted: true }, /^New files and conversations$/],
  [{ ...OFF, encrypted: true, since: "2026-11-20T10:00:00Z" }, /^New files and conversations, since .*2026/],
])("shows whether content is encrypted: %o", async (encryption, words) => {
  serve(() => ({ encryption }));
  renderStudio(<RetentionSection />);
  expect((await screen.findByText("Encryption at rest")).nextElementSibling).toHaveTextContent(words);
});

const rowOf = async (name: string) => (await screen.findByText(name)).closest("li") as HTMLElement;

it("shows what is kept how long and runs a job after showing what it deletes", async () => {
  let job = RETENTION;
  const ran = vi.fn();
  serve(() => ({ jobs: [job] }));
  server.use(
    http.post("*/api/v1/maintenance/retention/run", ({ request }) => {
      const dry_run = new URL(request.url).searchParams.get("dry_run") === "true";
      const deleted = { runs: 2, sessions: 0, artifacts: 1 };
      ran(dry_run);
      const now = new Date().toISOString();
      if (!dry_run) job = { ...job, started_at: now, finished_at: now, deleted };
      return HttpResponse.json({ name: "retention", dry_run, deleted });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<RetentionSection />);
  const row = await rowOf("Expired runs");
  expect(screen.getByText("90 days")).toBeVisible();
  expect(screen.getByText("365 days")).toBeVisible();
  expect(screen.getByText("Kept until deleted")).toBeVisible();
  expect(row).toHaveTextContent("Not run yet · next run in 3 days");
  await user.click(await within(row).findByRole("button", { name: "Run now: Expired runs" }));
  const dialog = screen.getByRole("alertdialog");
  expect(await within(dialog).findByText("This deletes 2 runs, 1 artifact. It cannot be undone.")).toBeVisible();
  expect(ran.mock.calls).toEqual([[true]]);
  await user.click(within(dialog).getByRole("button", { name: "Run now" }));
  await waitFor(() => expect(row).toHaveTextContent(/Last run .*, deleted 2 runs, 1 artifact/));
  expect(ran.mock.calls).toEqual([[true], [false]]);
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

it("shows why a job failed, and one that is running is not started again", async () => {
  const at = new Date().toISOString();
  serve(() => ({
    jobs: [
      { ...RETENTION, started_at: at, finished_at: at, error: "The storage does not answer." },
      { ...RETENTION, name: "orphan_sweep", started_at: at },
      { ...RETENTION, name: "of_tomorrow", summary: "Deletes what is new." },
    ],
  }));
  renderStudio(<RetentionSection />);
  const failed = await rowOf("Expired runs");
  expect(failed).toHaveTextContent(/Failed /);
  expect(within(failed).getByText("The storage does not answer.")).toBeVisible();
  const running = await rowOf("Orphaned artifacts");
  expect(running).toHaveTextContent(/Running, started /);
  expect(await within(running).findByRole("button", { name: /Run now/ })).toBeDisabled();
  expect(await rowOf("of_tomorrow")).toHaveTextContent("Deletes what is new.");
});

it("names every job, and does not count where the server does not", async () => {
  const at = new Date().toISOString();
  const names = ["trash", "sent_events", "trigger_occurrences", "form_uploads", "statistics"];
  serve(() => ({ jobs: names.map((name) => ({ ...RETENTION, name, started_at: at, finished_at: at })) }));
  renderStudio(<RetentionSection />);
  for (const name of ["Trash", "Sent events", "Old trigger occurrences", "Unsent form files", "Database statistics"]) {
    expect(await rowOf(name)).not.toHaveTextContent("deleted nothing");
  }
});

it("shows no counts for a job that deletes nothing that is counted", async () => {
  const at = new Date().toISOString();
  serve(() => ({ jobs: [{ ...RETENTION, name: "audit_heads", started_at: at, finished_at: at }] }));
  server.use(
    http.post("*/api/v1/maintenance/audit_heads/run", () =>
      HttpResponse.json({ name: "audit_heads", dry_run: true, deleted: NOTHING }),
    ),
  );
  const user = userEvent.setup();
  renderStudio(<RetentionSection />);
  const row = await rowOf("Audit log checkpoints");
  expect(row).toHaveTextContent(/Last run /);
  expect(row).not.toHaveTextContent(/deleted/);
  await user.click(await within(row).findByRole("button", { name: /Run now/ }));
  const dialog = screen.getByRole("alertdialog");
  expect(dialog).toHaveTextContent("Writes the end of each audit log to the server's log.");
  expect(dialog).not.toHaveTextContent(/nothing to delete|Counting/);
});

it("says that there are no jobs", async () => {
  serve(() => ({}));
  renderStudio(<RetentionSection />);
  expect(await screen.findByText("No maintenance jobs")).toBeVisible();
});

it("shows what went wrong", async () => {
  serve(() => ({}));
  server.use(
    http.get("*/api/v1/maintenance", () =>
      HttpResponse.json(
        { code: "unavailable", title: "Unavailable", status: 503, detail: "The database is away." },
        { status: 503 },
      ),
    ),
  );
  renderStudio(<RetentionSection />);
  expect(await screen.findByText(/The database is away/)).toBeVisible();
});
