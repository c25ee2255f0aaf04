import { expect, it, vi } from "vitest";
import { insisting } from "./part";

it("a part whose fetch fails is asked for again when the network is back", async () => {
  const load = vi.fn().mockRejectedValueOnce(new TypeError("Failed to fetch")).mockResolvedValue("here");
  const found = insisting(load);
  await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(1));
  window.dispatchEvent(new Event("online"));
  await expect(found).resolves.toBe("here");
  expect(load).toHaveBeenCalledTimes(2);
});

it("a part that never comes is given up", async () => {
  vi.useFakeTimers();
  const load = vi.fn().mockRejectedValue(new TypeError("Failed to fetch"));
  const found = expect(insisting(load)).rejects.toThrow("Failed to fetch");
  await vi.runAllTimersAsync();
  await found;
  expect(load).toHaveBeenCalledTimes(6);
  vi.useRealTimers();
});
