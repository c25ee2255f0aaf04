/** A name for a file that every system takes, from whatever a flow is called. */
export function fileNameOf(name: string, format: "json" | "spec"): string {
  const safe = name
    .normalize("NFKC")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not stay
    .replace(/[\u0000-\u001f\u007f<>:"/\\|?*]+/g, " ")
    .trim()
    .replace(/\s+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 80);
  return `${safe || "flow"}.${format === "json" ? "json" : "flow"}`;
}

/** Give the browser a text to keep as a file. */
export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
