import { el } from "./dom";
import { FormFields } from "./fields";
import { markdown } from "./markdown";
import css from "./page.css?inline";
import { refusal, t } from "./texts";
import { channelOf, type Field, Refused } from "./transport";
import { draw } from "./view";

/** What the server wrote into the page of a form. */
export interface FormPage {
  state: "open" | "closed" | "link_needed" | "link_spent" | "missing";
  color: string;
  theme: "light" | "dark" | "auto";
  title: string;
  welcome_text: string;
  form: Field[];
  visit: string;
}

interface Received {
  text: string;
  redirect_url: string | null;
  again: boolean;
}

const OVER = {
  closed: ["form_closed", "form_closed_about"],
  link_needed: ["form_link_needed", "form_link_needed_about"],
  link_spent: ["form_link_spent", "form_link_spent_about"],
  missing: ["form_missing", "form_missing_about"],
} as const;

/** Draws a form on a page of its own. */
export function mountPage(root: HTMLElement, page: FormPage, path: string): void {
  document.body.classList.add("page");
  const widget = draw(root, page.state === "open" ? page : { ...page, title: "" }, "form", css);
  if (page.state !== "open") {
    const [title, about] = OVER[page.state];
    widget.append(page.title && el("p", { class: "over" }, page.title), ...ending(t(title), el("p", {}, t(about))));
    return;
  }
  // A page that the browser kept shows answers that were sent: it starts anew.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  const fields = new FormFields(page.form);
  const message =
    page.form.length === 0 ? el("textarea", { rows: "5", "aria-label": t("message"), maxlength: "20000" }) : null;
  const send = el("button", { type: "submit", class: "main" }, t("send"));
  const note = el("p", { class: "note", role: "status" });
  const required = page.form.some((field) => field.required) && el("p", { class: "note" }, t("form_required"));
  const box = el(
    "form",
    { novalidate: true },
    required,
    ...fields.nodes,
    message,
    el("div", { class: "row" }, send),
    note,
  );
  const channel = channelOf(path, page.visit);
  const uploads = new Map<File, Promise<string>>();
  // A file is sent once, so that answers which are sent again are the same ones.
  const upload = (file: File) => {
    const sent = uploads.get(file) ?? channel.upload(file);
    uploads.set(file, sent);
    sent.catch(() => uploads.delete(file));
    return sent;
  };
  const say = (text: string, bad = false) => {
    note.className = bad ? "note bad" : "note";
    note.textContent = text;
  };
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled || !fields.check()) return;
    send.disabled = true;
    say(t("sending"));
    try {
      const body = { text: message?.value.trim() ?? "", files: [], ...(await fields.answers(upload)) };
      const received = await channel.post<Received>("submissions", {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
      done(widget, page, received);
    } catch (error) {
      say(error instanceof Refused ? refusal(error.code, error.message) : t("offline"), true);
      send.disabled = false;
    }
  });
  widget.append(box);
}

function done(widget: HTMLElement, page: FormPage, { text, redirect_url, again }: Received): void {
  if (redirect_url && /^https?:\/\//.test(redirect_url)) {
    location.assign(redirect_url);
    return;
  }
  const about = el("div", { class: "welcome" });
  if (text) about.append(markdown(text));
  else about.append(el("p", {}, t("form_received")));
  const another = el("button", { type: "button" }, t("form_again"));
  another.addEventListener("click", () => location.reload());
  const nodes = ending(t("form_thanks"), about, again && another);
  widget.replaceChildren(el("p", { class: "over" }, page.title), ...nodes);
  nodes[0]?.focus();
  window.scrollTo(0, 0);
}

/** What replaces a form: a heading that gets the focus, and words. */
function ending(title: string, ...rest: (Node | false)[]): HTMLElement[] {
  const heading = el("h1", { tabindex: "-1" }, title);
  return [heading, ...rest.filter((node): node is HTMLElement => node instanceof HTMLElement)];
}
