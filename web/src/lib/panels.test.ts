import { beforeEach, describe, expect, it } from "vitest";
import { inColumn, usePanels } from "./panels";

const shown = (chosen: boolean, narrow = false) => inColumn(usePanels.getState(), chosen, narrow);

describe("the column beside the flow", () => {
  beforeEach(() => usePanels.setState(usePanels.getInitialState(), true));

  it("is empty until something is asked for", () => {
    expect(shown(false)).toEqual([]);
    expect(shown(true)).toEqual([]);
  });

  it("shows whoever was asked for last, and keeps the other ready", () => {
    const { setOpen } = usePanels.getState();
    setOpen("run", true);
    setOpen("inspector", true);
    expect(shown(true)).toEqual(["run", "inspector"]);
    expect(shown(false)).toEqual(["run"]);
    setOpen("run", true);
    expect(shown(true)).toEqual(["inspector", "run"]);
  });

  it("does not give way to what is only offered", () => {
    usePanels.getState().setOpen("run", true);
    usePanels.getState().offer("inspector");
    expect(shown(true).at(-1)).toBe("run");
  });

  it("has the assistant where it is docked or nothing can float", () => {
    usePanels.getState().setOpen("assistant", true);
    expect(shown(false)).toEqual(["assistant"]);
    usePanels.getState().setDocked(false);
    expect(shown(false)).toEqual([]);
    expect(shown(false, true)).toEqual(["assistant"]);
  });

  it("closes the flow's own settings with the inspector", () => {
    usePanels.getState().setOpen("flow", true);
    expect(shown(false)).toEqual(["inspector"]);
    usePanels.getState().setOpen("inspector", false);
    expect(shown(false)).toEqual([]);
  });
});
