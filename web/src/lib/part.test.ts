import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { insisting, OutdatedPage } from "./part";

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

it("a part that a newer server no longer has is given up at once, and one of the same server is not", async () => {
  const script = document.createElement("script");
  script.type = "module";
  script.setAttribute("src", "/assets/index-old.js");
  document.head.append(script);
  const missing = new TypeError("Failed to fetch dynamically imported module");
  try {
    server.use(http.get("*/", () => HttpResponse.html('<script type="module" src="/assets/index-old.js"></script>')));
    const same = vi.fn().mockRejectedValueOnce(missing).mockResolvedValue("here");
    const found = insisting(same);
    await vi.waitFor(() => expect(same).toHaveBeenCalledTimes(1));
    await new Promise((done) => setTimeout(done, 50));
    window.dispatchEvent(new Event("online"));
    await expect(found).resolves.toBe("here");
    server.use(http.get("*/", () => HttpResponse.html('<script type="module" src="/assets/index-new.js"></script>')));
    const gone = vi.fn().mockRejectedValue(missing);
    await expect(insisting(gone)).rejects.toThrow(OutdatedPage);
    expect(gone).toHaveBeenCalledTimes(1);
  } finally {
    script.remove();
  }
});
