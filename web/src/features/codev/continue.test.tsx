import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { openPage, serve, session } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

describe("a session that failed", () => {
  it("continues with the model that is chosen", async () => {
    const served = serve(session({ status: "error", can_go_on: true, stop_reason: "The key was refused." }));
    const retried = vi.fn();
    server.use(
      http.post("*/api/v1/codev/sessions/s1/retry", async ({ request }) => {
        retried(await request.json());
        served.now = session({ status: "completed" });
        return HttpResponse.json(served.now);
      }),
    );
    const { user } = openPage("/develop/s1");
    const ended = await screen.findByRole("region", { name: "Failed" });
    expect(within(ended).getByText("The session continues with this model.")).toBeInTheDocument();
    await user.click(within(ended).getByRole("button", { name: "Continue from here" }));
    await waitFor(() => expect(retried).toHaveBeenCalledExactlyOnceWith({ model: "openai/m" }));
  });
});

describe("a session whose budget is used up", () => {
  it("continues only with a larger one", async () => {
    const stopped = { status: "stopped", can_go_on: true, lacks_budget: true, token_budget: 1000 } as const;
    const served = serve(session({ ...stopped, total_input_tokens: 900, total_output_tokens: 200 }));
    const retried = vi.fn();
    server.use(
      http.post("*/api/v1/codev/sessions/s1/retry", async ({ request }) => {
        retried(await request.json());
        served.now = session({ status: "completed" });
        return HttpResponse.json(served.now);
      }),
    );
    const { user } = openPage("/develop/s1");
    const budget = await screen.findByLabelText(/New budget/);
    expect(budget).toHaveValue("2,000");
    await user.clear(budget);
    await user.type(budget, "1 100");
    expect(screen.getByText("Enter more than the 1,100 tokens already used.")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Continue from here" })).toBeDisabled();
    await user.clear(budget);
    await user.type(budget, "5 000");
    await user.click(screen.getByRole("button", { name: "Continue from here" }));
    await waitFor(() => expect(retried).toHaveBeenCalledExactlyOnceWith({ model: "openai/m", token_budget: 5000 }));
  });
});
