import { setNonce } from "get-nonce";

/** The value that the server's content policy lets style elements carry; empty under `vite dev`, which has no policy. */
export const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";

// Radix's dialogs lock scrolling with a style element of their own.
if (nonce) setNonce(nonce);
