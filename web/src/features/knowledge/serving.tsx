import { useQuery } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import type { Hit, KnowledgeBase, KnowledgeDocument, Passage } from "@/api/queries/knowledge";
import { meQuery } from "@/api/queries/me";
import type { LocalModel } from "@/api/queries/modelSetup";
import type { components } from "@/api/schema";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { KnowledgePage } from ".";

export const API = "*/api/v1/knowledge-bases";
const AT = "2026-01-01T00:00:00Z";
const SHA = "a".repeat(64);
export const BASE: KnowledgeBase = {
  id: "b1",
  space_id: "s",
  name: "Handbook",
  description: "Rules of the house",
  passage_tokens: 400,
  overlap_tokens: 40,
  embedding_model: "",
  searched_model: "",
  rerank_model: "",
  rerank_candidates: 30,
  retention_days: 0,
  passages: 1,
  passages_embedded: 0,
  vector_recall: null,
  embedding_tokens: 0,
  created_at: AT,
  updated_at: AT,
  documents: 1,
  waiting: 0,
  failed: 0,
};
export const DOCUMENT: KnowledgeDocument = {
  id: "d1",
  base_id: "b1",
  name: "travel.md",
  source: "upload",
  owner_user_id: "u",
  readers: { role: "viewer", users: ["u2"], groups: [] },
  classification: 0,
  retention_days: null,
  parent_id: null,
  metadata: {},
  language: "en",
  version: 2,
  sha256: SHA,
  size_bytes: 120,
  media_type: "text/markdown",
  file_id: "f1",
  status: "ready",
  problem: "",
  notes: [],
  characters: 100,
  pages: null,
  passages: 1,
  passages_done: 1,
  passages_added: 1,
  passages_embedded: 0,
  embedding_tokens: 0,
  created_at: AT,
  updated_at: AT,
};
export const TEXT = "The daily allowance in Lisbon is 68 EUR.";
export const PASSAGE: Passage = {
  ordinal: 0,
  version: 2,
  start: 0,
  core: 0,
  end: TEXT.length,
  page: null,
  marks: null,
  context: "Travel",
  text: TEXT,
  sha256: SHA,
  tokens: 9,
};
export const HIT: Hit = {
  ...PASSAGE,
  document_id: "d1",
  document: "travel.md",
  document_sha256: SHA,
  classification: 0,
  score: 1,
  lexical_rank: 1,
  vector_rank: null,
  similarity: null,
  embedding_model: "",
  rerank_score: null,
  rerank_model: "",
  first_rank: null,
  queries: [0],
  matched: ["lisbon"],
};

export const MINILM: LocalModel = {
  name: "all-minilm-l6-v2",
  label: "all-MiniLM-L6-v2 (English)",
  use: "embedding",
  size: 90_868_376,
  licence: "Apache-2.0",
  ready: true,
  done: 90_868_376,
  fetching: false,
  detail: "",
  remedy: "",
  failed: false,
};

type Answer = components["schemas"]["SearchOut"];
type Field = components["schemas"]["MetadataField"];

interface Served {
  bases: KnowledgeBase[];
  documents: KnowledgeDocument[];
  hits: Hit[];
  local: LocalModel[];
  /** What was searched. */
  queries: string[];
  /** Members of the answer of a search. */
  answer: Partial<Answer>;
  fields: Field[];
  /** The model that reranked the hits. */
  rerankModel: string;
  /** Bodies of requests that change something. */
  sent: unknown[];
}

/** A server with one base; a test may change it. */
export function serve(permissions: string[] = ["knowledge.view", "knowledge.edit", "knowledge.manage"]): Served {
  const served: Served = {
    bases: [BASE],
    documents: [DOCUMENT],
    hits: [HIT],
    local: [],
    queries: ["Lisbon"],
    answer: {},
    fields: [],
    rerankModel: "",
    sent: [],
  };
  const me = {
    user: null,
    permissions: { tenant: [], every_space: [], spaces: [{ space_id: "s", role: "", permissions }] },
  };
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json(me)),
    http.get("*/api/v1/local-models", () => HttpResponse.json(served.local)),
    http.post(API, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(BASE, { status: 201 });
    }),
    http.get(API, () => HttpResponse.json({ items: served.bases, next_cursor: null })),
    http.patch(`${API}/b1`, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(BASE);
    }),
    http.get(`${API}/b1/documents`, () => HttpResponse.json({ items: served.documents, next_cursor: null })),
    http.get(`${API}/b1/metadata`, () => HttpResponse.json(served.fields)),
    http.get(`${API}/b1/documents/d1`, () => HttpResponse.json(served.documents[0])),
    http.get(`${API}/b1/documents/d1/passages`, () => HttpResponse.json([PASSAGE])),
    http.post(`${API}/b1/search`, async ({ request }) => {
      const body = (await request.json()) as { mode: string | null };
      served.sent.push(body);
      const mode = body.mode ?? "lexical";
      const found = {
        queries: served.queries,
        terms: ["lisbon"],
        vectors: mode !== "lexical",
        mode,
        embedding_model: "",
        problem: "",
      };
      return HttpResponse.json({ ...found, rerank_model: served.rerankModel, hits: served.hits, ...served.answer });
    }),
  );
  return served;
}

/** Nothing is drawn before it is known who is there. */
const Inside = () => (useQuery(meQuery).data ? <Outlet /> : null);

export function openPage(address: string) {
  const root = createRootRoute({ component: Outlet });
  const inside = createRoute({ getParentRoute: () => root, id: "inside", component: Inside });
  const page = createRoute({
    getParentRoute: () => inside,
    path: "/knowledge/{-$baseId}",
    component: KnowledgePage,
    validateSearch: (search) => search,
  });
  const router = createRouter({
    routeTree: root.addChildren([inside.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  renderStudio(<RouterProvider router={router as never} />);
  return { user: userEvent.setup(), router };
}

export const YEAR = [{ key: "year", at_least: 2026 }];

/** Adds the filter `YEAR` in one of the forms of the page. */
export async function addYear(user: ReturnType<typeof openPage>["user"], form: number) {
  const filters = within((await screen.findAllByRole("group", { name: "Filters" }))[form] as HTMLElement);
  await user.click(filters.getByRole("combobox", { name: "Test" }));
  await user.click(await screen.findByRole("option", { name: "is at least" }));
  await user.type(filters.getByLabelText("Value"), "2026");
  await user.click(filters.getByRole("button", { name: "Add filter" }));
}
