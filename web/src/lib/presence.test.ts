import { beforeEach, describe, expect, it } from "vitest";
import { announced, othersThere, usePresence } from "./presence";

const by = (user_id: string, name: string) => ({ user_id, name });
const names = (now: number) => othersThere(usePresence.getState().readers, "me", now).map((one) => one.name);

describe("who has the flow open", () => {
  beforeEach(() => usePresence.setState({ readers: {} }));
  it("names each other user once, without oneself", () => {
    announced("present", { reader: "1", by: by("b", "Grace") }, 0);
    announced("present", { reader: "2", by: by("b", "Grace") }, 0);
    announced("present", { reader: "3", by: by("a", "Ada") }, 0);
    announced("present", { reader: "4", by: by("me", "I") }, 0);
    expect(names(1000)).toEqual(["Ada", "Grace"]);
  });
  it("ends when the last stream of a user ends", () => {
    announced("present", { reader: "1", by: by("b", "Grace") }, 0);
    announced("present", { reader: "2", by: by("b", "Grace") }, 0);
    announced("left", { reader: "1", by: by("b", "Grace") }, 10);
    expect(names(20)).toEqual(["Grace"]);
    announced("left", { reader: "2", by: by("b", "Grace") }, 20);
    expect(names(30)).toEqual([]);
  });
  it("ends when nothing is announced for half a minute", () => {
    announced("present", { reader: "1", by: by("b", "Grace") }, 0);
    expect(names(29_000)).toEqual(["Grace"]);
    expect(names(31_000)).toEqual([]);
  });
});
