import { inkOn } from "./colour";
import { el } from "./dom";
import { FormFields } from "./fields";
import { markdown } from "./markdown";
import prose from "./prose.css?inline";
import rating from "./rating.css?inline";
import { Reply } from "./reply";
import css from "./style.css?inline";
import { t } from "./texts";
import type { About, Transport } from "./transport";

/** Draws a widget. Without a transport it is a preview: everything is there, and nothing is sent. */
export function mountWidget(root: ShadowRoot | HTMLElement, about: About, transport: Transport | null): HTMLElement {
  const widget = draw(root, about, about.kind);
  widget.append(...(about.kind === "chat" ? chat(about, transport) : form(about, transport)));
  return widget;
}

type Look = Pick<About, "color" | "theme" | "title" | "welcome_text">;

/** Draws what is above a form or a chat, in its colours. */
export function draw(root: ShadowRoot | HTMLElement, about: Look, kind: About["kind"], more = ""): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css + prose + rating + more);
  const holder = root instanceof ShadowRoot ? root : document;
  holder.adoptedStyleSheets = [sheet];
  const widget = el("main", { class: `widget ${kind}` });
  widget.style.setProperty("--brand", about.color);
  widget.style.setProperty("--on-brand", inkOn(about.color));
  follow(widget, about.theme);
  const head: Node[] = about.title ? [el("h1", {}, about.title)] : [];
  if (about.welcome_text) {
    const welcome = el("div", { class: "welcome" });
    welcome.append(markdown(about.welcome_text));
    head.push(welcome);
  }
  widget.append(...head);
  root.replaceChildren(widget);
  return widget;
}

function follow(widget: HTMLElement, theme: About["theme"]): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => widget.classList.toggle("dark", theme === "dark" || (theme === "auto" && dark.matches));
  set();
  if (theme === "auto") dark.addEventListener("change", set);
}

function form(about: About, transport: Transport | null): Node[] {
  const fields = new FormFields(about.form);
  const asks =
    about.form.length === 0 ? el("textarea", { rows: "3", "aria-label": t("message"), maxlength: "20000" }) : null;
  const send = el("button", { type: "submit", class: "main" }, t("send"));
  const stop = el("button", { type: "button", hidden: true }, t("stop"));
  const note = el("p", { class: "note", role: "status" });
  const place = el("div", { "aria-live": "polite" });
  const box = el("form", { novalidate: true }, ...fields.nodes, asks, el("div", { class: "row" }, send, stop), note);
  let control: AbortController | null = null;
  stop.addEventListener("click", () => control?.abort());
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (control || !fields.check()) return;
    if (!transport) {
      note.textContent = t("preview");
      return;
    }
    control = new AbortController();
    busy(true);
    const reply = new Reply("result");
    place.replaceChildren(reply.node);
    const sent = async () => ({
      text: asks?.value.trim() ?? "",
      files: [],
      ...(await fields.answers((file) => transport.upload(file))),
    });
    await reply.run(transport, sent, control.signal, () => undefined);
    control = null;
    busy(false);
  });
  const busy = (is: boolean) => {
    send.disabled = is;
    stop.hidden = !is;
  };
  return [box, place];
}

function chat(about: About, transport: Transport | null): Node[] {
  const log = el("div", { class: "log", role: "log", "aria-live": "polite", tabindex: "0" });
  const fields = new FormFields(about.form);
  const text = el("textarea", { rows: "1", "aria-label": t("message"), placeholder: t("write"), maxlength: "20000" });
  const send = el("button", { type: "submit", class: "main" }, t("send"));
  const stop = el("button", { type: "button", hidden: true }, t("stop"));
  const box = el("form", { class: "ask", novalidate: true }, text, send, stop);
  const asks = el("div", { class: "questions" });
  for (const question of about.questions) {
    const ask = el("button", { type: "button" }, question);
    ask.addEventListener("click", () => {
      text.value = question;
      box.requestSubmit();
    });
    asks.append(ask);
  }
  let control: AbortController | null = null;
  stop.addEventListener("click", () => control?.abort());
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    box.requestSubmit();
  });
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = text.value.trim();
    if (control || !words || !fields.check()) return;
    text.value = "";
    asks.remove();
    log.append(el("div", { class: "said mine" }, el("span", { class: "hidden" }, t("you")), words));
    const down = () => log.scrollTo({ top: log.scrollHeight });
    if (!transport) {
      log.append(el("div", { class: "said" }, t("preview")));
      down();
      return;
    }
    control = new AbortController();
    send.hidden = true;
    stop.hidden = false;
    const reply = new Reply("theirs");
    log.append(reply.node);
    down();
    const sent = async () => ({ text: words, files: [], ...(await fields.answers((file) => transport.upload(file))) });
    await reply.run(transport, sent, control.signal, down);
    control = null;
    send.hidden = false;
    stop.hidden = true;
    text.focus();
  });
  return [...fields.nodes, log, asks, box];
}
