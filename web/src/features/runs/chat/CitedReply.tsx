import { type ReactNode, useCallback } from "react";
import type { RunOut } from "@/api/types";
import { Markdown } from "@/components/markdown/Markdown";
import { PassageLink } from "../step/KnowledgeCall";
import { Sources } from "./Sources";
import { useSources } from "./sources";

interface CitedReplyProps {
  run: RunOut;
  className: string;
  /** The answer without links, where it cites nothing. */
  children: ReactNode;
}

/** An answer from knowledge: each number that it cites opens the passage, and its sources are listed below. */
export default function CitedReply({ run, className, children }: CitedReplyProps) {
  const sources = useSources(run);
  const cite = useCallback(
    (number: number) => {
      const source = sources.find((one) => one.number === number);
      return source ? <PassageLink passage={source}>[{number}]</PassageLink> : null;
    },
    [sources],
  );
  return (
    <>
      <div className={className}>
        {sources.length > 0 && run.text ? <Markdown text={run.text} cite={cite} /> : children}
      </div>
      <Sources sources={sources} />
    </>
  );
}
