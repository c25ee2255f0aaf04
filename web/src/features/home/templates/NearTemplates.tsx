import { useQuery } from "@tanstack/react-query";
import { LayoutTemplate } from "lucide-react";
import { useState } from "react";
import { templatesQuery } from "@/api/queries/templates";
import { Row, Rows } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { Needs } from "./TemplateCard";
import { TemplateDialog } from "./TemplateDialog";

const MOST = 3;

/** The templates that are nearest to a request; nothing where none is near. */
export function NearTemplates({ sentence }: { sentence: string }) {
  const t = useHomeTexts();
  const near = useQuery({ ...templatesQuery(sentence.slice(0, 200)), placeholderData: undefined });
  const [shown, setShown] = useState<string | null>(null);
  const templates = near.data?.slice(0, MOST) ?? [];
  if (templates.length === 0) return null;
  return (
    <section aria-label={t("near_templates")} className="mb-3 flex flex-col gap-2">
      <h2 className="font-medium">{t("near_templates")}</h2>
      <Rows label={t("near_templates")}>
        {templates.map((one) => (
          <Row
            key={one.id}
            icon={<LayoutTemplate aria-hidden />}
            title={
              <button
                type="button"
                className="text-left font-medium text-accent hover:underline"
                onClick={() => setShown(one.id)}
              >
                {one.title}
              </button>
            }
            detail={one.description}
            aside={<Needs template={one} />}
          />
        ))}
      </Rows>
      {shown && <TemplateDialog id={shown} onClose={() => setShown(null)} />}
    </section>
  );
}
