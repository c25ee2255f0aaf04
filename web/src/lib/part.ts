import { type ComponentType, type LazyExoticComponent, lazy } from "react";

const FIRST_WAIT_MS = 1000;
const MOST_TRIES = 6;
/** How long a place is left alone before the rest of it is fetched. */
const REST_AFTER_MS = 2000;

// biome-ignore lint/suspicious/noExplicitAny: the properties of any component, as `lazy` has them
type AnyComponent = ComponentType<any>;
type Load<T> = () => Promise<{ default: T }>;

const parts: Load<unknown>[] = [];

/**
 * A part of the page that is fetched when it is first shown, or once the browser has nothing else to do. Where the
 * network is away it is waited for: what is on the screen stays.
 */
export function part<T extends AnyComponent>(load: Load<T>): LazyExoticComponent<T> {
  let loading: Promise<{ default: T }> | null = null;
  const once = () => {
    loading ??= insisting(load).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  parts.push(once);
  return lazy(once);
}

/** Fetch every part that the page knows of by now, one after another, so that a cut network finds them here. */
export function fetchRest(): () => void {
  let left = false;
  const timer = setTimeout(async () => {
    for (let next = 0; next < parts.length && !left; next += 1) await parts[next]?.().catch(() => undefined);
    if (!left) document.documentElement.dataset.parts = "here";
  }, REST_AFTER_MS);
  return () => {
    left = true;
    clearTimeout(timer);
  };
}

/** The server has a newer page than this one, whose parts it no longer has. */
export class OutdatedPage extends Error {
  override name = "OutdatedPage";
}

/** Whether the server's page starts with another script than this one. */
async function isOutdated(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.getAttribute("src");
  if (!own) return false;
  const page = await fetch("/", { cache: "no-store", headers: { accept: "text/html" } }).catch(() => null);
  return page?.ok === true && !(await page.text()).includes(own);
}

/** Tries again, after longer and longer waits or as soon as the network is back. */
export async function insisting<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch (error) {
      if (await isOutdated()) throw new OutdatedPage();
      if (tries === MOST_TRIES) throw error;
      await backOnline(FIRST_WAIT_MS * 2 ** (tries - 1));
    }
  }
}

function backOnline(ms: number): Promise<void> {
  return new Promise((done) => {
    const go = () => {
      clearTimeout(timer);
      window.removeEventListener("online", go);
      done();
    };
    const timer = setTimeout(go, ms);
    window.addEventListener("online", go);
  });
}
