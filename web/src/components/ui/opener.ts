let opened: HTMLElement | null = null;

/** A menu has opened: its button is where the focus belongs after a dialog that the menu leads to. */
export function rememberOpener(open: boolean): void {
  if (open) opened = document.activeElement instanceof HTMLElement ? document.activeElement : null;
}

/** Where the focus goes back to: what had it before, or the button of the menu that it was an entry of. */
export function openerOf(before: Element | null): HTMLElement | null {
  const inMenu = before?.closest("[role=menu]") ?? !before?.isConnected;
  const found = inMenu || before === document.body ? opened : before;
  return found instanceof HTMLElement && found.isConnected ? found : null;
}
