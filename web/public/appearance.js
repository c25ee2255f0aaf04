// Runs before anything is drawn, so that a dark page never flashes light. The page keeps the choice in
// localStorage; where that is refused (private browsing) the system's preference stands.
(() => {
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem("headgate.appearance") ?? "null");
  } catch {}
  const theme = chosen?.theme ?? "system";
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  if (chosen?.motion === "reduced") document.documentElement.dataset.motion = "reduced";
})();
