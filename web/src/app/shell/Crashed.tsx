import { useRouter } from "@tanstack/react-router";
import { ApiError } from "@/api/problem";
import { Button, Problem } from "@/components/ui";
import { OutdatedPage } from "@/lib/part";
import { useAppTexts } from "../texts";
import { NotFound } from "./NotFound";

/** A page that fell over: what happened, and the ways on. Drafts are safe: what was typed is saved or kept here. */
export function Crashed({ error }: { error: unknown }) {
  const t = useAppTexts();
  const router = useRouter();
  if (error instanceof ApiError && error.status === 404) return <NotFound />;
  // The way to the sign-in page has begun: nothing fell over.
  if (error instanceof ApiError && error.status === 401) return null;
  if (error instanceof OutdatedPage) {
    return (
      <main className="mx-auto flex max-w-lg flex-col gap-4 p-8">
        <h1 className="text-xl font-semibold">{t("outdated")}</h1>
        <p className="text-muted">{t("crashed_more")}</p>
        <Button kind="primary" className="self-start" onClick={() => window.location.reload()}>
          {t("reload")}
        </Button>
      </main>
    );
  }
  return (
    <main className="mx-auto flex max-w-lg flex-col gap-4 p-8">
      <h1 className="text-xl font-semibold">{t("crashed")}</h1>
      <Problem error={error} />
      <p className="text-muted">{t("crashed_more")}</p>
      <div className="flex gap-2">
        <Button kind="primary" onClick={() => void router.invalidate()}>
          {t("try_again")}
        </Button>
        <Button onClick={() => window.location.assign("/")}>{t("go_home")}</Button>
      </div>
    </main>
  );
}
