import { inkOn } from "./colour";

/**
 * What an outside page includes:
 *
 *   <script src="https://headgate.example.org/widget.js" data-flow="ID" async></script>
 *
 * It puts a frame where the script stands, or with `data-place="corner"` a button at the corner that opens one. The frame
 * is sandboxed without an origin: it cannot touch the page, and the page cannot read it.
 */
(() => {
  const script = document.currentScript as HTMLScriptElement | null;
  const flow = script?.dataset.flow ?? "";
  if (!script || !/^[0-9a-f-]{36}$/.test(flow)) {
    // biome-ignore lint/suspicious/noConsole: the one place where whoever writes the outside page looks
    console.error("Headgate: the script needs data-flow with the id of a flow.");
    return;
  }
  const { place, title = "Form", label = title, color, height } = script.dataset;
  const corner = place === "corner";
  const frame = document.createElement("iframe");
  frame.src = new URL(`/w/${flow}`, script.src).href;
  frame.title = title;
  frame.setAttribute("sandbox", "allow-scripts allow-forms allow-downloads");
  frame.referrerPolicy = "origin";
  if (!corner) {
    frame.loading = "lazy";
    frame.style.borderRadius = "12px";
  }
  const look = (element: HTMLElement, style: Record<string, string>) => Object.assign(element.style, style);
  const most = () => Math.max(240, window.innerHeight - 120);
  look(frame, {
    border: "0",
    width: "100%",
    height: `${Number(height) || (corner ? 560 : 420)}px`,
    colorScheme: "auto",
  });

  window.addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow || corner || height) return;
    const told = Number((data as { headgateHeight?: unknown } | null)?.headgateHeight);
    if (told > 0) frame.style.height = `${Math.min(4000, Math.max(80, Math.ceil(told)))}px`;
  });

  if (!corner) {
    script.after(frame);
    return;
  }
  const box = document.createElement("div");
  look(box, {
    position: "fixed",
    right: "20px",
    bottom: "84px",
    width: "min(400px, calc(100vw - 40px))",
    height: `min(560px, ${most()}px)`,
    borderRadius: "14px",
    overflow: "hidden",
    boxShadow: "0 12px 40px rgb(0 0 0 / .25)",
    zIndex: "2147483000",
    display: "none",
  });
  frame.style.height = "100%";
  const back = color && /^#[0-9a-f]{6}$/i.test(color) ? color : "#0f766e";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.setAttribute("aria-expanded", "false");
  look(button, {
    position: "fixed",
    right: "20px",
    bottom: "20px",
    height: "48px",
    padding: "0 20px",
    border: "0",
    borderRadius: "24px",
    font: "600 15px/1 system-ui, sans-serif",
    color: inkOn(back),
    background: back,
    boxShadow: "0 6px 20px rgb(0 0 0 / .2)",
    cursor: "pointer",
    zIndex: "2147483000",
  });
  const toggle = (open: boolean) => {
    if (open && !frame.isConnected) box.append(frame);
    look(box, { display: open ? "block" : "none", height: `min(560px, ${most()}px)` });
    button.setAttribute("aria-expanded", String(open));
    if (open) frame.focus();
    else button.focus();
  };
  button.addEventListener("click", () => toggle(box.style.display === "none"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && box.style.display !== "none") toggle(false);
  });
  document.body.append(box, button);
})();
