import { useEffect } from "react";

/** Titles of the components that are there now. A page may leave after the next one has come. */
const titles: { title: string }[] = [];

const update = () => {
  const latest = titles.at(-1);
  document.title = latest ? `${latest.title} · Headgate` : "Headgate";
};

/** What the browser's tab and a screen reader call the page, while the component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    if (!title) return;
    const entry = { title };
    titles.push(entry);
    update();
    return () => {
      titles.splice(titles.indexOf(entry), 1);
      update();
    };
  }, [title]);
}
