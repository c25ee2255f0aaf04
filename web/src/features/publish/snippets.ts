import type { FormField } from "@/api/types";

export interface Called {
  /** Where the server is, without a slash at the end. */
  origin: string;
  flowId: string;
  form: readonly FormField[];
}

/** What stands for the key: a key is shown once, when it is made, and never here. */
const KEY_PLACEHOLDER = "hg_YOUR_KEY";
const FILES = new Set<FormField["type"]>(["file", "image", "audio", "document"]);

/** The body of a request: an example answer for each field of the form, or a text where there is none. */
export function exampleBody(form: readonly FormField[]): Record<string, unknown> {
  if (form.length === 0) return { version: "published", text: "Hello", wait: true };
  return { version: "published", form_data: Object.fromEntries(form.map(example)), wait: true };
}

function example(field: FormField): [string, unknown] {
  if (field.type === "number") return [field.id, 1];
  if (field.type === "select") return [field.id, field.options?.[0] ?? ""];
  if (field.type === "multiselect") return [field.id, field.options ?? []];
  if (field.type === "checkbox") return [field.id, true];
  if (field.type === "date") return [field.id, "2026-12-31"];
  if (FILES.has(field.type)) return [field.id, "FILE_ID"];
  return [field.id, field.label || field.id];
}

const takesFiles = (form: readonly FormField[]) => form.some((field) => FILES.has(field.type));

const address = ({ origin, flowId }: Called) => `${origin}/api/v1/flows/${flowId}/runs`;

/** JSON as a shell takes it between single quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function curl(called: Called): string {
  const body = JSON.stringify(exampleBody(called.form), null, 2);
  const upload = takesFiles(called.form)
    ? [
        "# A file is uploaded first; its id goes where FILE_ID stands.",
        `curl -s ${called.origin}/api/v1/files -H "Authorization: Bearer $HEADGATE_API_KEY" -F file=@your-file.pdf`,
        "",
      ]
    : [];
  return [
    `export HEADGATE_API_KEY=${KEY_PLACEHOLDER}`,
    "",
    ...upload,
    `curl -s ${quoted(address(called))} \\`,
    `  -H "Authorization: Bearer $HEADGATE_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(body)}`,
  ].join("\n");
}

export function python(called: Called): string {
  return [
    "import json",
    "import os",
    "import urllib.request",
    "",
    `key = os.environ.get("HEADGATE_API_KEY", "${KEY_PLACEHOLDER}")`,
    `body = ${pythonValue(exampleBody(called.form))}`,
    "request = urllib.request.Request(",
    `    ${JSON.stringify(address(called))},`,
    "    data=json.dumps(body).encode(),",
    '    headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},',
    ")",
    "with urllib.request.urlopen(request) as answer:",
    "    run = json.load(answer)",
    'print(run["status"], run["output"] and run["output"]["text"])',
  ].join("\n");
}

export function typescript(called: Called): string {
  return [
    `const key = process.env.HEADGATE_API_KEY ?? "${KEY_PLACEHOLDER}";`,
    `const answer = await fetch(${JSON.stringify(address(called))}, {`,
    '  method: "POST",',
    `  headers: { Authorization: "Bearer " + key, "Content-Type": "application/json" },`,
    `  body: JSON.stringify(${indented(JSON.stringify(exampleBody(called.form), null, 2), 2)}),`,
    "});",
    "if (!answer.ok) throw new Error(await answer.text());",
    "const run = await answer.json();",
    "console.log(run.status, run.output?.text);",
  ].join("\n");
}

export function openai({ origin, flowId }: Called): string {
  return [
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin}/v1", api_key="${KEY_PLACEHOLDER}")`,
    "answer = client.chat.completions.create(",
    `    model="${flowId}",`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ")",
    "print(answer.choices[0].message.content)",
  ].join("\n");
}

export function mcp({ origin }: Called): string {
  const server = { type: "http", url: `${origin}/mcp`, headers: { Authorization: `Bearer ${KEY_PLACEHOLDER}` } };
  return JSON.stringify({ mcpServers: { headgate: server } }, null, 2);
}

const indented = (text: string, spaces: number) => text.replaceAll("\n", `\n${" ".repeat(spaces)}`);

/** JSON in the words of Python. */
function pythonValue(value: unknown, depth = 0): string {
  const room = "    ".repeat(depth + 1);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value as object).map(
    ([name, one]) => `${room}${JSON.stringify(name)}: ${pythonValue(one, depth + 1)},`,
  );
  return `{\n${entries.join("\n")}\n${"    ".repeat(depth)}}`;
}
