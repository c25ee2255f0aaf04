import { type FormPage, mountPage } from "./page";
import { swedish } from "./texts";
import { type About, transportOf } from "./transport";
import { mountWidget } from "./view";

/** The page in the frame: draws what the server wrote into it, and tells the page around it how high it is. */
const root = document.getElementById("widget");
const written = document.getElementById("about")?.textContent;

if (root && written) {
  const about = JSON.parse(written) as About | FormPage;
  if (swedish()) document.documentElement.lang = "sv";
  // The address of the script is the server's; the frame itself has no origin to ask.
  const base = new URL(import.meta.url).origin;
  if ("state" in about) mountPage(root, about, `${base}${location.pathname}`);
  else frame(root, about, base);
}

function frame(root: HTMLElement, about: About, base: string): void {
  const widget = mountWidget(root, about, transportOf(about, base));
  document.body.style.margin = "0";
  if (about.kind === "chat") {
    for (const element of [document.documentElement, document.body, root]) element.style.height = "100%";
  } else if (window.parent !== window) {
    const tell = () => window.parent.postMessage({ headgateHeight: widget.offsetHeight }, "*");
    new ResizeObserver(tell).observe(widget);
    tell();
  }
}
