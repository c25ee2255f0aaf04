import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createDraftStore, emptyNode } from "@/lib/draft";
import { flowOut } from "@/testing/render";
import type { Stage } from "../model/stage";
import { useFollowing } from "./useFollowing";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("shows new nodes also when they are drawn late", () => {
  vi.spyOn(document, "querySelector").mockReturnValue({
    getBoundingClientRect: () => new DOMRect(0, 0, 1000, 600),
  } as Element);
  const store = createDraftStore(flowOut({ name: "Far", nodes: [], edges: [] }), []);
  const setViewport = vi.fn();
  const stage = {
    store,
    flow: { getViewport: () => ({ x: 0, y: 0, zoom: 1 }), setViewport },
    drawn: { nodes: [], regions: [] },
  } as unknown as Stage;
  renderHook(() => useFollowing(stage));
  store.getState().change({ label: "Paste" }, (draft) => {
    draft.nodes.far = { ...emptyNode(), id: "far", type: "Say", position: { x: 9000, y: 0 } };
    draft.order.push("far");
  });
  vi.advanceTimersByTime(1000);
  expect(setViewport).not.toHaveBeenCalled();
  stage.drawn.nodes = [
    { id: "far", position: { x: 9000, y: 0 }, width: 260, height: 140 },
  ] as unknown as Stage["drawn"]["nodes"];
  vi.advanceTimersByTime(1000);
  expect(setViewport).toHaveBeenCalledOnce();
});
