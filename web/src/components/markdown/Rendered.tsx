import { type ComponentProps, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { safeImage, safeLink } from "./addresses";
import { type Cite, markCites } from "./cites";

const SCHEMA = {
  ...defaultSchema,
  protocols: { ...defaultSchema.protocols, src: ["http", "https", "data"] },
};

function Anchor({ href, children }: ComponentProps<"a">) {
  const address = safeLink(href);
  if (!address) return <span>{children}</span>;
  return (
    <a
      href={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {children}
    </a>
  );
}

function Picture({ src, alt }: ComponentProps<"img">) {
  const written = typeof src === "string" ? src : undefined;
  const address = safeImage(written);
  if (address)
    return <img src={address} alt={alt ?? ""} loading="lazy" className="my-2 max-h-96 max-w-full rounded-md" />;
  return <Anchor href={written}>{alt || written || ""}</Anchor>;
}

const heading = (look: string) =>
  function Heading({ children }: { children?: React.ReactNode }) {
    return <p className={`mt-4 mb-1.5 font-semibold first:mt-0 ${look}`}>{children}</p>;
  };

// Headings of a model's words are none of the page's outline.
const PARTS: Components = {
  a: Anchor,
  img: Picture,
  h1: heading("text-lg"),
  h2: heading("text-lg"),
  h3: heading("text-base"),
  h4: heading("text-base"),
  h5: heading("text-sm"),
  h6: heading("text-sm"),
  p: ({ children }) => <p className="my-2 first:mt-0 last:mb-0">{children}</p>,
  ul: ({ children }) => <ul className="my-2 list-disc pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="my-2 list-decimal pl-5">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="my-0.5">{children}</li>,
  blockquote: ({ children }) => (
    <blockquote className="my-2 border-l-2 border-line-strong pl-3 text-muted">{children}</blockquote>
  ),
  hr: () => <hr className="my-3 border-line" />,
  pre: ({ children }) => (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="my-2 overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs [&_code]:bg-transparent [&_code]:p-0"
    >
      <pre>{children}</pre>
    </div>
  ),
  code: ({ children }) => <code className="rounded-sm bg-sunken px-1 py-0.5 font-mono text-[0.9em]">{children}</code>,
  table: ({ children }) => (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="my-2 overflow-x-auto"
    >
      <table className="w-full border-collapse text-sm">{children}</table>
    </div>
  ),
  th: ({ children }) => <th className="border-b border-line-strong px-2 py-1 text-left font-medium">{children}</th>,
  td: ({ children }) => <td className="border-b border-line px-2 py-1 align-top">{children}</td>,
};

const SANITIZED = [[rehypeSanitize, SCHEMA]] satisfies ComponentProps<typeof ReactMarkdown>["rehypePlugins"];

/** Markdown drawn; loaded when it is first needed. */
export default function Rendered({ text, cite }: { text: string; cite?: Cite | undefined }) {
  const parts = useMemo(() => (cite ? { ...PARTS, cite: citation(cite) } : PARTS), [cite]);
  return (
    <ReactMarkdown
      components={parts}
      remarkPlugins={[remarkGfm]}
      rehypePlugins={cite ? [...SANITIZED, markCites] : SANITIZED}
      urlTransform={(address) => address}
    >
      {text}
    </ReactMarkdown>
  );
}

const citation = (cite: Cite) =>
  function Citation({ children, ...rest }: ComponentProps<"cite"> & { "data-number"?: string }) {
    return cite(Number(rest["data-number"])) ?? children;
  };
