import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { between, GREETS, kept, serve, show } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

beforeEach(serve);

describe("tests that several people change", () => {
  it("are removed one after the other, and one that comes back leaves alone what others did meanwhile", async () => {
    const [first, second] = [GREETS, { ...GREETS, name: "asks" }];
    kept.cases = [first, second];
    const user = userEvent.setup();
    show();
    await screen.findByRole("button", { name: "Remove “greets”" });
    await Promise.all(
      ["greets", "asks"].map((name) => user.click(screen.getByRole("button", { name: `Remove “${name}”` }))),
    );
    expect(await screen.findByText("No tests yet")).toBeInTheDocument();
    const others = { ...GREETS, name: "of another tab" };
    kept.cases = [others];
    await waitFor(() => expect(screen.getByText("“asks” was removed")).toBeInTheDocument());
    await user.click(screen.getAllByRole("button", { name: "Undo" }).at(-2) as HTMLElement);
    await waitFor(() => expect(kept.cases).toEqual([first, others]));
  });

  it("keep what others saved in the same moment", async () => {
    kept.cases = [GREETS];
    const others = { ...GREETS, name: "of another tab" };
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "Edit “greets”" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Input"), " you");
    between.push(() => kept.cases.push(others));
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    await waitFor(() =>
      expect(kept.cases.map((one) => [one.name, one.text])).toEqual([
        ["greets", "hello you"],
        ["of another tab", "hello"],
      ]),
    );
  });

  it("that others changed while they were edited are replaced only by who has seen that", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "Edit “greets”" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Input"), " you");
    kept.cases = [{ ...GREETS, text: "good morning" }];
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    expect(await dialog.findByRole("alert")).toHaveTextContent("Another user changed this test");
    expect(dialog.getByText("Input “good morning”")).toBeInTheDocument();
    expect(dialog.getByLabelText("Input")).toHaveValue("hello you");
    expect(kept.cases[0]?.text).toBe("good morning");
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    await waitFor(() => expect(kept.cases[0]?.text).toBe("hello you"));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("are nobody else's work because a database gives their members in another order", async () => {
    kept.cases = [{ ...GREETS, form: { who: "Ada", of: "Byron" } }];
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "Edit “greets”" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Input"), " you");
    kept.cases = [{ ...GREETS, form: { of: "Byron", who: "Ada" } }];
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    await waitFor(() => expect(kept.cases[0]?.text).toBe("hello you"));
  });

  it("come back as others left them when they were removed by mistake", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    show();
    await screen.findByRole("button", { name: "Remove “greets”" });
    const theirs = { ...GREETS, text: "good morning" };
    kept.cases = [theirs];
    await user.click(screen.getByRole("button", { name: "Remove “greets”" }));
    await waitFor(() => expect(kept.cases).toEqual([]));
    await user.click((await screen.findAllByRole("button", { name: "Undo" })).at(-1) as HTMLElement);
    await waitFor(() => expect(kept.cases).toEqual([theirs]));
  });
});
