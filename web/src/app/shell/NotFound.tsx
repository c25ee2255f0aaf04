import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { EmptyState } from "@/components/ui";
import { useTitle } from "@/lib/title";
import { useAppTexts } from "../texts";

export function NotFound() {
  const t = useAppTexts();
  useTitle(t("not_found"));
  return (
    <main className="pt-[12vh]">
      <EmptyState
        icon={<Compass />}
        title={t("not_found")}
        action={
          <Link to="/" className="font-medium text-accent hover:underline">
            {t("go_home")}
          </Link>
        }
      >
        {t("not_found_more")}
      </EmptyState>
    </main>
  );
}
