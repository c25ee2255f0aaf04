const PLAIN_LINK = /^(https?:\/\/|mailto:)/i;
const OWN_FILE = /^\/api\/v1\/(?:artifacts\/[0-9a-f-]{36}|files\/[0-9a-f-]{36}\/content)$/;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;

/** The address of a link in somebody else's words, where following it is harmless; null otherwise. */
export function safeLink(address: string | undefined): string | null {
  const found = address?.trim() ?? "";
  return PLAIN_LINK.test(found) || OWN_FILE.test(found) ? found : null;
}

/** The address of an image that may be loaded: our own files and what is in the text itself, nothing of other hosts. */
export function safeImage(address: string | undefined): string | null {
  const found = address?.trim() ?? "";
  return OWN_FILE.test(found) || INLINE_IMAGE.test(found) ? found : null;
}
