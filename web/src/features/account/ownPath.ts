const LONGEST = 1000;

/** The path if it is one of this site, the home page for everything else: `//evil.example`, `/\evil.example`. */
export function ownPath(wanted: string | undefined): string {
  if (!wanted || wanted.length > LONGEST || !/^\/[\x21-\x7e]*$/.test(wanted)) return "/";
  return wanted.startsWith("//") || wanted.includes("\\") ? "/" : wanted;
}
