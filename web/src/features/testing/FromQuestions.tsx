import { ListChecks } from "lucide-react";
import { Suspense, useState } from "react";
import { Button } from "@/components/ui";
import { part } from "@/lib/part";
import { useTestTexts } from "./texts";

const QuestionsDialog = part(async () => ({ default: (await import("./QuestionsDialog")).QuestionsDialog }));

/** Opens the questions of knowledge bases, which tests can be made of. */
export function FromQuestions() {
  const t = useTestTexts();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon={<ListChecks />} onClick={() => setOpen(true)}>
        {t("from_questions")}
      </Button>
      {open && (
        <Suspense fallback={null}>
          <QuestionsDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
