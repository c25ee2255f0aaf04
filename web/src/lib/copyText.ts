/**
 * Puts a text on the clipboard. Browsers give pages of plain http none but their own machine's, and a studio in an
 * office is often one: there it is copied as by hand.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = document.activeElement as HTMLElement | null;
  const box = document.createElement("textarea");
  box.value = text;
  box.setAttribute("aria-hidden", "true");
  box.className = "sr-only";
  // Within the dialog or menu that holds the focus: it lets it go nowhere else.
  (before?.closest("[role=dialog],[role=alertdialog],[role=menu]") ?? document.body).append(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  before?.focus();
  if (!copied) throw new Error("The browser does not let this page copy.");
}
