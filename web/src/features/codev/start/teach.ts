import { MessageCircleQuestion, NotebookPen, Repeat2, ThumbsUp } from "lucide-react";

/** How a session goes, in four steps: for who has none yet, and for who begins one. */
export const TEACH = [
  { icon: MessageCircleQuestion, text: "teach_say" },
  { icon: NotebookPen, text: "teach_plan" },
  { icon: Repeat2, text: "teach_test" },
  { icon: ThumbsUp, text: "teach_review" },
] as const;
