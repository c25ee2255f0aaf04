import { el } from "./dom";
import { markdown } from "./markdown";
import { rating } from "./rating";
import { refusal, t } from "./texts";
import { type Heard, type Made, Refused, type Sent, type Transport } from "./transport";

/** States of a run that are said in words, and whether they are bad news. */
const NOTES = { waiting: false, failed: true, stopped: false };

/** A place where a run's result appears as it comes. */
export class Reply {
  readonly node: HTMLElement;
  private readonly text = el("div", { class: "text" });
  private readonly note = el("p", { class: "note dots", role: "status" }, t("working"));
  private readonly made = el("ul", { class: "files" });
  private said = "";
  private drawing = 0;

  constructor(look: string) {
    this.node = el(
      "div",
      { class: `said ${look}` },
      el("span", { class: "hidden" }, t("answer")),
      this.text,
      this.made,
      this.note,
    );
  }

  /** Send, hear and draw until it is over; `signal` stops it. */
  async run(transport: Transport, send: () => Promise<Sent>, signal: AbortSignal, moved: () => void): Promise<void> {
    let run = "";
    try {
      run = await transport.start(await send());
      let ended = false;
      for await (const heard of transport.hear(run, signal)) {
        ended = this.take(heard, transport) || ended;
        if (heard.kind === "done" && heard.text)
          this.node.append(rating((helpful, correction) => transport.rate(run, helpful, correction)));
        moved();
      }
      if (!ended) this.tell(t("offline"), true);
    } catch (error) {
      if (signal.aborted) {
        if (run) await transport.stop(run).catch(() => undefined);
        this.tell(t("stopped"), false);
      } else if (error instanceof Refused) this.tell(refusal(error.code, error.message), true);
      else this.tell(t("offline"), true);
    }
    moved();
  }

  private take(heard: Heard, transport: Transport): boolean {
    if (heard.kind === "text") {
      this.tell(t("working"), false);
      this.say(this.said + heard.text);
    } else if (heard.kind === "again") this.say("");
    else if (heard.kind === "done") {
      this.say(heard.text ?? "");
      for (const file of heard.files) this.made.append(el("li", {}, link(file, transport)));
      this.tell(heard.cut ? t("cut") : heard.text || heard.files.length > 0 ? "" : t("nothing"), false);
    } else if (Object.hasOwn(NOTES, heard.kind)) {
      const kind = heard.kind as keyof typeof NOTES;
      this.tell(t(kind), NOTES[kind]);
    }
    return heard.kind === "done" || heard.kind === "failed" || heard.kind === "stopped";
  }

  /** Drawn at most once a frame, however fast pieces come. */
  private say(text: string): void {
    this.said = text;
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.text.replaceChildren(markdown(this.said));
    });
  }

  private tell(text: string, bad: boolean): void {
    this.note.className = bad ? "note bad" : text === t("working") ? "note dots" : "note";
    this.note.textContent = text;
    this.note.hidden = !text;
  }
}

function link(file: Made, transport: Transport): HTMLElement {
  return el("a", { href: transport.address(file), download: file.name, target: "_blank", rel: "noopener" }, file.name);
}
