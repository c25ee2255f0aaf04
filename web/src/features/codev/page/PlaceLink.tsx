import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "@/components/ui";
import { ownLink, webLink } from "../model/trial";

const LOOK = "font-medium text-accent hover:underline";

interface PlaceLinkProps {
  link: string;
  children: ReactNode;
  className?: string;
}

/** A link to a page of the studio, or to one of a Flowise server in a tab of its own; nothing where there is none. */
export function PlaceLink({ link, children, className }: PlaceLinkProps) {
  const own = ownLink(link);
  const outside = webLink(link);
  if (own) {
    return (
      <Link to={own} className={cx(LOOK, className)}>
        {children}
      </Link>
    );
  }
  if (!outside) return null;
  return (
    <a href={outside} target="_blank" rel="noreferrer noopener" className={cx(LOOK, className)}>
      {children} <ExternalLink aria-hidden className="inline size-3.5 align-[-2px]" />
    </a>
  );
}
