import { useTitle } from "@/lib/title";
import { Colours } from "./Colours";
import { Floating } from "./Floating";
import { Primitives } from "./Primitives";
import { Shapes } from "./Shapes";
import { useDesignTexts } from "./texts";

/** The design system on one page: docs/contribute/design-system.md shows it in pictures. */
export function DesignPage() {
  const t = useDesignTexts();
  useTitle(t("title"));
  return (
    <div className="mx-auto max-w-6xl px-4 py-8 sm:px-8">
      <h1 className="text-2xl font-semibold">{t("title")}</h1>
      <p className="mt-1 mb-8 max-w-2xl text-muted">{t("lead")}</p>
      <Colours />
      <Primitives />
      <Floating />
      <Shapes />
    </div>
  );
}
