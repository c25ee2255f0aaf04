import { el } from "./dom";
import { t } from "./texts";
import type { Field } from "./transport";

const FILES = new Set(["image", "audio", "document", "file"]);
const ACCEPTS: Partial<Record<Field["type"], string>> = { image: "image/*", audio: "audio/*" };
const LARGEST = 3_500_000;

export interface Answers {
  form_data: Record<string, unknown>;
}

interface Drawn {
  field: Field;
  node: HTMLElement;
  control: HTMLElement;
  value: () => string | number | File[] | null;
  tell: (wrong: string) => void;
}

/** The questions of a form with their answers. */
export class FormFields {
  readonly nodes: HTMLElement[];
  private readonly drawn: Drawn[];

  constructor(form: readonly Field[]) {
    this.drawn = form.map((field, place) => draw(field, `field-${place}`));
    this.nodes = this.drawn.map((one) => one.node);
  }

  /** Whether everything is answered that must be; what is wrong is told at its place, the first of it gets the focus. */
  check(): boolean {
    let first: HTMLElement | null = null;
    for (const one of this.drawn) {
      const value = one.value();
      const empty = value === null || value === "" || (Array.isArray(value) && value.length === 0);
      const wrong = empty ? (one.field.required ? t("required") : "") : problem(one.field, value);
      one.tell(wrong);
      if (wrong) first ??= one.control;
    }
    first?.focus();
    return first === null;
  }

  /** The answers, files sent first. */
  async answers(upload: (file: File) => Promise<string>): Promise<Answers> {
    const found: Answers = { form_data: {} };
    for (const { field, value } of this.drawn) {
      const answer = value();
      if (Array.isArray(answer)) {
        if (answer.length > 0) found.form_data[field.id] = await Promise.all(answer.map((file) => upload(file)));
      } else if (answer !== null && answer !== "")
        found.form_data[field.id] = field.type === "json" ? data(String(answer)) : answer;
    }
    return found;
  }
}

/** Data as somebody writes it: JSON, else the text itself. */
function data(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function problem(field: Field, value: string | number | File[]): string {
  if (field.type === "number" && !Number.isFinite(value)) return t("number");
  return Array.isArray(value) && value.some((file) => file.size > LARGEST) ? t("too_large") : "";
}

function draw(field: Field, id: string): Drawn {
  const made = FILES.has(field.type) ? files(field, id) : answer(field, id);
  const wrong = el("p", { class: "wrong", id: `${id}-wrong`, role: "alert", hidden: true });
  const name = field.label || field.id;
  const label = el(
    "label",
    { for: id },
    name,
    field.required && el("span", { class: "star", "aria-hidden": "true" }, " *"),
  );
  if (field.required) made.control.setAttribute("aria-required", "true");
  return {
    field,
    control: made.control,
    value: made.value,
    node: el("div", { class: "field" }, label, made.node, wrong),
    tell(text) {
      wrong.textContent = text;
      wrong.hidden = !text;
      made.control.toggleAttribute("aria-invalid", false);
      if (text) made.control.setAttribute("aria-invalid", "true");
      if (text) made.control.setAttribute("aria-describedby", wrong.id);
      else made.control.removeAttribute("aria-describedby");
    },
  };
}

type Control = { node: HTMLElement; control: HTMLElement; value: Drawn["value"] };

function answer(field: Field, id: string): Control {
  if (field.type === "select") {
    const options = field.options.map((option) => el("option", { value: option }, option));
    const control = el("select", { id }, el("option", { value: "" }, t("choose")), ...options);
    return { node: control, control, value: () => control.value };
  }
  if (field.type === "number") {
    const control = el("input", { id, type: "number", step: "any", inputmode: "decimal" });
    const value = () => (control.validity.badInput ? Number.NaN : control.value === "" ? null : Number(control.value));
    return { node: control, control, value };
  }
  const control = el("textarea", { id, rows: "2", maxlength: "20000" });
  return { node: control, control, value: () => control.value.trim() };
}

function files(field: Field, id: string): Control {
  const chosen: File[] = [];
  const list = el("ul", { class: "files" });
  const control = el("input", { id, type: "file", accept: ACCEPTS[field.type], multiple: true });
  const place = el("span", { class: "drop" }, control, t("choose_file"));
  const shown = () =>
    list.replaceChildren(
      ...chosen.map((file) => {
        const off = el("button", { type: "button", class: "small" }, t("take_off"));
        off.addEventListener("click", () => {
          chosen.splice(chosen.indexOf(file), 1);
          shown();
          control.focus();
        });
        return el("li", {}, el("span", {}, file.name), off);
      }),
    );
  const take = (found: FileList | null | undefined) => {
    chosen.push(...[...(found ?? [])].slice(0, 10 - chosen.length));
    shown();
  };
  control.addEventListener("change", () => {
    take(control.files);
    control.value = "";
  });
  place.addEventListener("click", (event) => event.target === place && control.click());
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    take(event.dataTransfer?.files);
  });
  return { node: el("div", { class: "field" }, place, list), control, value: () => [...chosen] };
}
