import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "@/api/problem";
import type { Flow, FlowOut } from "@/api/types";
import { createDraftStore, emptyNode } from "@/lib/draft";
import { flowOut } from "@/testing/render";
import { unsavedCopies } from "./copies";
import { DEBOUNCE_MS, Saver } from "./saver";

const node = (id: string, text = "") => ({ ...emptyNode(), id, type: "Prompt", params: { text } });
const problem = (status: number, code: string) => new ApiError(status, { code, title: code, status, detail: "Why." });

/** A server with one flow, which keeps revisions as the real one does. */
function serverWith(flow: Flow) {
  const has = { flow, revision: 1, down: false, refuse: null as ApiError | null, writes: 0 };
  const answer = (): FlowOut => ({ ...flowOut(structuredClone(has.flow)), revision: has.revision });
  const asked = async <T>(give: () => T): Promise<T> => {
    await Promise.resolve();
    if (has.down) throw ApiError.offline(null);
    return give();
  };
  return {
    has,
    edit: (change: (flow: Flow) => void) => {
      has.flow = structuredClone(has.flow);
      change(has.flow);
      has.revision += 1;
    },
    read: () => asked(answer),
    write: (revision: number, definition: Flow) =>
      asked(() => {
        has.writes += 1;
        if (has.refuse) throw has.refuse;
        if (revision !== has.revision) throw problem(409, "stale_revision");
        has.flow = structuredClone(definition);
        has.revision += 1;
        return answer();
      }),
    writeLast: vi.fn(),
  };
}

function opened(flow: Flow = { name: "F", nodes: [node("a"), node("b")] }) {
  const server = serverWith(flow);
  const store = createDraftStore(flowOut(flow), []);
  const copies = unsavedCopies("flow-1", "tab-1");
  const onFollowed = vi.fn();
  const onSignedOut = vi.fn();
  const saver = new Saver({ store, server, copies, onAnswer: vi.fn(), onFollowed, nameOf: () => "Anna", onSignedOut });
  const stop = saver.start();
  return { server, store, get: store.getState, copies, saver, stop, onFollowed, onSignedOut };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  localStorage.clear();
  unsavedCopies("flow-1", "tab-1").forget();
});

describe("saving", () => {
  it("waits half a second, saves once, and says so at each step", async () => {
    const { server, get } = opened();
    const states: string[] = [];
    for (const text of ["h", "he", "hel"]) {
      get().setParam("a", "text", text);
      states.push(get().saveState);
      await pass(DEBOUNCE_MS - 100);
    }
    expect(server.has.writes).toBe(0);
    await pass(200);
    expect(states).toEqual(["unsaved", "unsaved", "unsaved"]);
    expect(get()).toMatchObject({ saveState: "saved", revision: 2 });
    expect(server.has).toMatchObject({ writes: 1, flow: { nodes: [{ params: { text: "hel" } }, {}] } });
  });

  it("does not wait for somebody to stop typing for ever", async () => {
    const { server, get } = opened();
    for (let count = 0; count < 20; count += 1) {
      get().setParam("a", "text", `${count}`);
      await pass(300);
    }
    expect(server.has.writes).toBeGreaterThan(0);
  });

  it("keeps what the network does not take, tries again longer and longer, and when it is back", async () => {
    const { server, get, copies } = opened();
    server.has.down = true;
    get().setParam("a", "text", "kept");
    await pass(600);
    expect(get().saveState).toBe("offline");
    expect(copies.left()?.mine.nodes?.[0]?.params).toEqual({ text: "kept" });
    server.has.down = false;
    window.dispatchEvent(new Event("online"));
    await pass(0);
    expect(get().saveState).toBe("saved");
    expect(copies.left()).toBeNull();
    server.has.down = true;
    get().setParam("a", "text", "again");
    await pass(600 + 1000 + 2000 + 10);
    server.has.down = false;
    await pass(3800);
    expect(get().saveState).toBe("offline");
    await pass(200);
    expect(get().saveState).toBe("saved");
  });

  it("says why and where the server refuses, and tries what is changed next", async () => {
    const { server, get } = opened();
    const issues = [{ code: "invalid_value", message: "No.", node: "a", field: "text" }];
    server.has.refuse = new ApiError(422, { ...problem(422, "flow_invalid").problem, issues });
    get().setParam("a", "text", "bad");
    await pass(600);
    expect(get()).toMatchObject({ saveState: "unsaved", refused: "Why.", issues });
    server.has.refuse = null;
    get().setParam("a", "text", "good");
    await pass(600);
    expect(get()).toMatchObject({ saveState: "saved", refused: "", issues: [] });
  });

  it("saves at once when asked, with what is typed while it is on its way", async () => {
    const { server, get } = opened();
    get().setParam("a", "text", "1");
    const flushed = get().flush();
    get().setParam("a", "text", "2");
    expect(await flushed).toBe(true);
    expect(server.has.flow.nodes?.[0]?.params).toEqual({ text: "2" });
  });

  it("takes in what somebody saved before, and saves on top of it", async () => {
    const { server, get, onFollowed } = opened();
    server.edit((flow) => {
      if (flow.nodes?.[1]) flow.nodes[1].label = "Theirs";
    });
    get().setParam("a", "text", "mine");
    await pass(600);
    expect(get().saveState).toBe("saved");
    expect(onFollowed).toHaveBeenCalledOnce();
    expect(server.has.flow.nodes).toMatchObject([{ params: { text: "mine" } }, { label: "Theirs" }]);
  });

  it("saves nothing while two changes meet, and what was chosen then", async () => {
    const { server, get, copies, saver } = opened();
    get().setParam("a", "text", "mine");
    server.edit((flow) => {
      if (flow.nodes?.[0]) flow.nodes[0].params = { text: "theirs" };
    });
    await saver.pull(2, { name: "Anna" });
    await pass(5000);
    expect(get().conflict).toMatchObject({ by: "Anna", revision: 2 });
    expect(server.has.flow.nodes?.[0]?.params).toEqual({ text: "theirs" });
    expect(copies.left()).not.toBeNull();
    expect(await get().flush()).toBe(false);
    get().settle(new Set());
    await pass(600);
    expect(server.has.flow.nodes?.[0]?.params).toEqual({ text: "mine" });
  });

  it("waits while somebody holds the draft, then takes in what was told meanwhile", async () => {
    const { server, get, saver } = opened();
    const letGo = get().hold();
    get().setParam("a", "text", "mine");
    server.edit((flow) => {
      flow.name = "Theirs";
    });
    void saver.pull(2, null);
    await pass(5000);
    expect(server.has.writes).toBe(0);
    letGo();
    await pass(600);
    expect(server.has.flow).toMatchObject({ name: "Theirs", nodes: [{ params: { text: "mine" } }, {}] });
  });

  it("stops where the flow is gone or may not be changed", async () => {
    const { server, get } = opened();
    server.has.refuse = problem(404, "flow_not_found");
    get().setParam("a", "text", "x");
    await pass(600);
    expect(get()).toMatchObject({ closed: "deleted", editable: false });
    await pass(60_000);
    expect(server.has.writes).toBe(1);
  });

  it("saves what is left when the page is left, and sends it when the tab closes", async () => {
    const { server, get, stop, saver } = opened();
    get().setParam("a", "text", "last");
    saver.leave();
    expect(server.writeLast).toHaveBeenCalledWith(1, expect.objectContaining({ name: "F" }));
    expect(await stop()).toBe(true);
    expect(server.has.flow.nodes?.[0]?.params).toEqual({ text: "last" });
  });
});

describe("copies of what is not saved", () => {
  const flow = { name: "F" };

  it("are offered to this tab at once, and to others when their tab is gone", async () => {
    unsavedCopies("flow-1", "tab-1").keep({ revision: 1, base: flow, mine: { name: "G" } });
    expect(unsavedCopies("flow-1", "tab-1").left()?.mine).toEqual({ name: "G" });
    expect(unsavedCopies("flow-1", "tab-2").left()).toBeNull();
    expect(unsavedCopies("flow-2", "tab-1").left()).toBeNull();
    await pass(10_000);
    expect(unsavedCopies("flow-1", "tab-2").left()?.mine).toEqual({ name: "G" });
    unsavedCopies("flow-1", "tab-1").alive();
    expect(unsavedCopies("flow-1", "tab-2").left()).toBeNull();
  });

  it("are kept for this page where the browser keeps nothing", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("refused", "QuotaExceededError");
    });
    unsavedCopies("flow-1", "tab-1").keep({ revision: 1, base: flow, mine: { name: "G" } });
    expect(unsavedCopies("flow-1", "tab-1").left()?.mine).toEqual({ name: "G" });
  });
});

describe("a session that ends while somebody writes", () => {
  it("is told, keeps what was changed, and saves it once somebody is signed in", async () => {
    const { server, get, copies, onSignedOut } = opened();
    server.has.refuse = problem(401, "unauthenticated");
    get().setParam("a", "text", "written");
    await pass(DEBOUNCE_MS + 100);
    expect(onSignedOut).toHaveBeenCalledOnce();
    expect(get().closed).toBeNull();
    expect(copies.left()?.mine.nodes?.[0]?.params).toEqual({ text: "written" });
    server.has.refuse = null;
    await get().flush();
    expect(server.has.flow.nodes?.[0]?.params).toEqual({ text: "written" });
    expect(copies.left()).toBeNull();
  });
});
