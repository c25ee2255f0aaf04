import { ApiError } from "@/api/problem";
import type { FlowOut } from "@/api/types";
import { type DraftStore, type Issue, type Merge, toFlow } from "@/lib/draft";
import { ALIVE_MS, type UnsavedCopies } from "./copies";
import { type DraftServer, isPassing, isStale, statusOf } from "./server";

export const DEBOUNCE_MS = 500;
const LONGEST_WAIT_MS = 3000;
const COPY_MS = 200;
const MOST_TRIES = 5;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

interface SaverOptions {
  store: DraftStore;
  server: DraftServer;
  copies: UnsavedCopies;
  /** The server gave the flow anew. */
  onAnswer: (flow: FlowOut) => void;
  /** What somebody else did was taken in. */
  onFollowed: (merge: Merge, by: unknown) => void;
  nameOf: (by: unknown) => string;
  /** The session has ended: nothing is saved until somebody signs in. */
  onSignedOut: () => void;
}

/** Saves a draft some time after it was changed, and takes in what others saved; one thing at a time. */
export class Saver {
  private line: Promise<unknown> = Promise.resolve();
  private timers: Record<string, ReturnType<typeof setTimeout> | undefined> = {};
  private dirtySince = 0;
  private failures = 0;
  /** Who made the newest revision that was told of. */
  private told: { revision: number; by: unknown } | null = null;
  /** What was told while somebody held the draft. */
  private waiting: { revision: number; by: unknown } | null = null;

  constructor(private readonly options: SaverOptions) {}

  private get state() {
    return this.options.store.getState();
  }

  get dirty(): boolean {
    return this.state.edits > this.state.savedEdits;
  }

  /** Watch the draft until the answer is called; then save what is left. */
  start(): () => Promise<boolean> {
    const { store } = this.options;
    const stop = store.subscribe((now, before) => {
      if (now.edits !== before.edits) this.edited();
      if (before.holds > 0 && now.holds === 0) this.released();
    });
    const online = () => void this.flush();
    window.addEventListener("online", online);
    this.state.setFlush(() => this.flush());
    return () => {
      stop();
      window.removeEventListener("online", online);
      const last = this.dirty && !this.state.conflict ? this.flush() : Promise.resolve(!this.dirty);
      return last.finally(() => this.clear());
    };
  }

  /** Save now; whether the server has everything. */
  flush(): Promise<boolean> {
    this.clear("save");
    return this.inLine(() => this.save(true));
  }

  /** The server is said to have this revision: read it unless it is known. */
  pull(revision: number, by: unknown): Promise<void> {
    if (by) this.told = { revision, by };
    if (this.state.holds > 0) {
      this.waiting = { revision, by };
      return Promise.resolve();
    }
    return this.inLine(async () => {
      const known = Math.max(this.state.revision, this.state.conflict?.revision ?? 0);
      if (revision <= known || this.state.closed) return;
      await this.read(by).catch((error: unknown) => {
        if (isPassing(error)) this.timers.pull = setTimeout(() => void this.pull(revision, by), FIRST_RETRY_MS * 2);
        else this.failed(error);
      });
    });
  }

  /** The page goes away: keep what is not saved, and try to send it. */
  leave(): void {
    if (!this.dirty) return;
    this.copy();
    const { revision, document, conflict, closed } = this.state;
    if (!conflict && !closed) this.options.server.writeLast(revision, toFlow(document));
  }

  private edited(): void {
    if (!this.dirty) return;
    this.dirtySince ||= Date.now();
    if (!this.state.conflict && this.state.saveState !== "saving") this.state.setSaveState("unsaved");
    this.timers.copy ??= setTimeout(() => this.copy(), COPY_MS);
    const left = this.dirtySince + LONGEST_WAIT_MS - Date.now();
    this.later(Math.max(0, Math.min(DEBOUNCE_MS, left)));
  }

  private later(ms: number): void {
    this.clear("save");
    this.timers.save = setTimeout(() => {
      if (this.state.holds === 0) void this.inLine(() => this.save(false));
    }, ms);
  }

  private released(): void {
    const { waiting } = this;
    this.waiting = null;
    if (waiting) void this.pull(waiting.revision, waiting.by);
    if (this.dirty) this.later(DEBOUNCE_MS);
  }

  private async save(all: boolean): Promise<boolean> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (this.state.conflict || this.state.closed) return false;
      if (!this.dirty) return true;
      const again = await this.saveOnce().catch((error: unknown) => this.failed(error));
      if (!again || (again === "saved" && !all)) break;
    }
    return !this.dirty;
  }

  /** `stale`: somebody saved before; what they did is taken in now. */
  private async saveOnce(): Promise<"saved" | "stale"> {
    const { document, edits, revision } = this.state;
    this.state.setSaveState("saving");
    try {
      const answer = await this.options.server.write(revision, toFlow(document));
      this.state.saved(document, edits, answer);
      this.done(answer);
      return "saved";
    } catch (error) {
      if (!isStale(error)) throw error;
      await this.read(null);
      return "stale";
    }
  }

  private async read(by: unknown): Promise<void> {
    const answer = await this.options.server.read();
    if (answer.revision <= this.state.revision) return;
    const who = by ?? (this.told?.revision === answer.revision ? this.told.by : null);
    const found = this.state.follow(answer, this.options.nameOf(who));
    this.options.onAnswer(answer);
    this.options.onFollowed(found, who);
    if (this.state.conflict) this.copy();
    else if (this.dirty) this.later(DEBOUNCE_MS);
  }

  private done(answer: FlowOut): void {
    this.failures = 0;
    this.options.onAnswer(answer);
    if (this.dirty) {
      this.dirtySince = Date.now();
      this.later(DEBOUNCE_MS);
      return;
    }
    this.dirtySince = 0;
    this.clear("copy", "alive");
    this.options.copies.forget();
  }

  private failed(error: unknown): false {
    const status = statusOf(error);
    this.copy();
    if (isPassing(error)) {
      this.failures += 1;
      if (this.dirty) this.state.setSaveState("offline");
      this.later(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1)));
    } else if (status === 404 || status === 403) this.state.close(status === 404 ? "deleted" : "forbidden");
    else {
      if (status === 401) this.options.onSignedOut();
      this.state.refuse(saidOf(error), issuesOf(error));
    }
    return false;
  }

  private copy(): void {
    this.clear("copy");
    const { revision, base, document } = this.state;
    if (!this.dirty) return;
    this.options.copies.keep({ revision, base: toFlow(base), mine: toFlow(document) });
    this.timers.alive ??= setInterval(() => this.options.copies.alive(), ALIVE_MS);
  }

  private clear(...names: string[]): void {
    for (const name of names.length > 0 ? names : Object.keys(this.timers)) {
      clearTimeout(this.timers[name]);
      this.timers[name] = undefined;
    }
  }

  private inLine<T>(work: () => Promise<T>): Promise<T> {
    const next = this.line.then(work, work);
    this.line = next.catch(() => undefined);
    return next;
  }
}

const issuesOf = (error: unknown): Issue[] =>
  error instanceof ApiError && Array.isArray(error.problem.issues) ? error.problem.issues : [];

const saidOf = (error: unknown): string =>
  error instanceof ApiError
    ? [error.problem.detail || error.problem.title, error.remedy].filter(Boolean).join(" ")
    : String(error);
