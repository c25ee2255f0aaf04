/** Keep a text as a file of the browser: from what is here, without asking the server. */
export function download(path: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = path.split("/").at(-1) || "file.txt";
  link.click();
  URL.revokeObjectURL(address);
}
