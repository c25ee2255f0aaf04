import { el } from "./dom";
import { refusal, t } from "./texts";
import { Refused } from "./transport";

const THUMB =
  "M15 5.9 14 10h5.8a2 2 0 0 1 2 2.6l-2.4 8a2 2 0 0 1-1.9 1.4H4a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2h2.8a2 2 0 0 0 1.8-1.1L12 2a3.1 3.1 0 0 1 3 3.9ZM7 10v12";

/** Whether an answer was helpful, and what a correct one would be. */
export function rating(send: (helpful: boolean, correction: string) => Promise<void>): HTMLElement {
  const yes = thumb(t("helpful"));
  const no = thumb(t("not_helpful"), "down");
  const text = el("textarea", {
    rows: "2",
    "aria-label": t("correction"),
    placeholder: t("correction"),
    maxlength: "10000",
  });
  const form = el("form", { hidden: true }, text, el("button", { type: "submit", class: "small" }, t("send")));
  const note = el("span", { class: "note", role: "status" });
  const place = el("div", { class: "rating" }, el("div", { class: "row" }, yes, no, note), form);
  const rate = async (helpful: boolean, correction: string) => {
    try {
      await send(helpful, correction);
      yes.setAttribute("aria-pressed", String(helpful));
      no.setAttribute("aria-pressed", String(!helpful));
      note.textContent = t("thanks");
      if (helpful || correction) form.hidden = true;
    } catch (error) {
      note.textContent = error instanceof Refused ? refusal(error.code, error.message) : t("offline");
    }
  };
  yes.addEventListener("click", () => rate(true, ""));
  no.addEventListener("click", () => {
    form.hidden = false;
    text.focus();
    void rate(false, text.value.trim());
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void rate(false, text.value.trim());
  });
  return place;
}

function thumb(label: string, look = ""): HTMLButtonElement {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 24 24");
  const path = document.createElementNS(picture.namespaceURI, "path");
  path.setAttribute("d", THUMB);
  picture.append(path);
  const button = el("button", { type: "button", class: `small ${look}`, "aria-label": label, title: label }, picture);
  button.setAttribute("aria-pressed", "false");
  return button;
}
