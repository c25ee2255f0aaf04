import { el } from "./dom";
import { t } from "./texts";
import type { Field } from "./transport";

const FILES = new Set(["image", "audio", "document", "file"]);
const ACCEPTS: Partial<Record<Field["type"], string>> = { image: "image/*", audio: "audio/*" };
const LARGEST = 3_500_000;

export interface Answers {
  form_data: Record<string, unknown>;
}

type Value = string | number | boolean | string[] | File[] | null;

interface Drawn {
  field: Field;
  node: HTMLElement;
  control: HTMLElement;
  value: () => Value;
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
      if (FILES.has(field.type)) {
        const answer = value() as File[];
        if (answer.length > 0) found.form_data[field.id] = await Promise.all(answer.map((file) => upload(file)));
        continue;
      }
      const answer = value();
      const empty = answer === null || answer === "" || (Array.isArray(answer) && answer.length === 0);
      if (!empty) found.form_data[field.id] = field.type === "json" ? data(String(answer)) : answer;
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

function problem(field: Field, value: Value): string {
  if (FILES.has(field.type)) return (value as File[]).some((file) => file.size > LARGEST) ? t("too_large") : "";
  if (field.type === "checkbox") return field.required && value !== true ? t("checked") : "";
  if (typeof value === "number") return Number.isFinite(value) ? outside(field, value, "number") : t("number");
  if (Array.isArray(value)) return outside(field, value.length, "choices");
  return outside(field, [...String(value)].length, "text");
}

function outside({ min, max }: Field, size: number, what: "number" | "text" | "choices"): string {
  if (typeof min === "number" && size < min) return t(`min_${what}`).replace("{}", String(min));
  return typeof max === "number" && size > max ? t(`max_${what}`).replace("{}", String(max)) : "";
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
  if (field.type === "multiselect") return choices(field, id);
  if (field.type === "checkbox") {
    const control = el("input", { id, type: "checkbox" });
    return { node: el("span", { class: "choice" }, control), control, value: () => control.checked };
  }
  if (field.type === "date") {
    const control = el("input", { id, type: "date" });
    return { node: control, control, value: () => control.value };
  }
  const control = el("textarea", { id, rows: field.type === "long_text" ? "5" : "2", maxlength: "20000" });
  return { node: control, control, value: () => control.value.trim() };
}

function choices(field: Field, id: string): Control {
  const boxes = field.options.map((option, place) =>
    el("input", { id: `${id}-${place}`, type: "checkbox", value: option, "aria-label": option }),
  );
  const labels = boxes.map((box) => el("label", { class: "choice", for: box.id }, box, box.value));
  const name = field.label || field.id;
  const node = el("div", { id, class: "choices", role: "group", "aria-label": name, tabindex: "-1" }, ...labels);
  return { node, control: node, value: () => boxes.filter((box) => box.checked).map((box) => box.value) };
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
