/** A link that looks like the main button: it leads to the form, and can be opened in a tab of its own. */
export const START_LINK =
  "inline-flex h-8 shrink-0 items-center gap-2 rounded-md bg-accent px-3 font-medium text-on-accent shadow-low hover:bg-accent-hover";
