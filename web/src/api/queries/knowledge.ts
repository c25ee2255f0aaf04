import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type KnowledgeBase = Schemas["KnowledgeBaseOut"];
export type KnowledgeDocument = Schemas["DocumentOut"];
export type Passage = Schemas["PassageOut"];
export type Hit = Schemas["HitOut"];
export type SearchMode = NonNullable<Schemas["SearchIn"]["mode"]>;
export type Metadata = NonNullable<Schemas["DocumentIn"]["metadata"]>;
export type Condition = Schemas["Condition"];
export type ReaderRole = NonNullable<Schemas["Readers"]["role"]>;

export const knowledgeKeys = {
  all: ["knowledge"] as const,
  bases: ["knowledge", "bases"] as const,
  documents: (base: string) => ["knowledge", base, "documents"] as const,
  document: (base: string, id: string) => ["knowledge", base, "documents", id] as const,
  passages: (base: string, id: string) => ["knowledge", base, "documents", id, "passages"] as const,
  metadata: (base: string) => ["knowledge", base, "documents", "metadata"] as const,
  searches: (base: string) => ["knowledge", base, "search"] as const,
  search: (base: string, query: string, options: SearchOptions) =>
    ["knowledge", base, "search", query, options] as const,
};

const A_PAGE = 100;
const INDEXING_MS = 1000;

const isIndexing = ({ status }: KnowledgeDocument) => status === "pending" || status === "indexing";

/** Whether documents of a base are being indexed, or all its passages embedded again. */
const isBusy = (base: KnowledgeBase) => base.waiting > 0 || base.embedding_model !== base.searched_model;

/** The knowledge bases that the user can view. */
export const basesQuery = queryOptions({
  queryKey: knowledgeKeys.bases,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/knowledge-bases", { params: { query: { limit: A_PAGE } }, signal }))).items,
  refetchInterval: ({ state: { data } }) => (data?.some(isBusy) ? INDEXING_MS : false),
});

/** The documents of a base, newest first; read again while one is being indexed. */
export const documentsQuery = (base_id: string) =>
  infiniteQueryOptions({
    queryKey: knowledgeKeys.documents(base_id),
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/documents", {
          params: { path: { base_id }, query: { limit: A_PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.items.some(isIndexing)) ? INDEXING_MS : false,
  });

/** The keys of the documents that the user may read, with their values. */
export const metadataQuery = (base_id: string) =>
  queryOptions({
    queryKey: knowledgeKeys.metadata(base_id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/knowledge-bases/{base_id}/metadata", { params: { path: { base_id } }, signal })),
  });

export const documentQuery = (base_id: string, document_id: string) =>
  queryOptions({
    queryKey: knowledgeKeys.document(base_id, document_id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/documents/{document_id}", {
          params: { path: { base_id, document_id } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) => (data && isIndexing(data) ? INDEXING_MS : false),
  });

/** Where the browser downloads the file of a document, with the rights of the document. */
export const contentAddress = ({ base_id, id }: KnowledgeDocument) =>
  `/api/v1/knowledge-bases/${base_id}/documents/${id}/content`;

/** Passages of a document in order, a page after the other; from shortly before `first`. */
export const passagesQuery = (base_id: string, document_id: string, first: number) =>
  infiniteQueryOptions({
    queryKey: [...knowledgeKeys.passages(base_id, document_id), first],
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/documents/{document_id}/passages", {
          params: { path: { base_id, document_id }, query: { limit: A_PAGE, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: Math.max(-1, first - 4),
    getNextPageParam: (last) => (last.length < A_PAGE ? null : (last.at(-1)?.ordinal ?? null)),
  });

/** Passages of a page of a document, in order. */
export const pagePassagesQuery = ({ base_id, id, version }: KnowledgeDocument, page: number) =>
  queryOptions({
    queryKey: [...knowledgeKeys.passages(base_id, id), "page", page, version],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/documents/{document_id}/passages", {
          params: { path: { base_id, document_id: id }, query: { limit: A_PAGE, page } },
          signal,
        }),
      ),
  });

/** A page of a PDF as a picture. */
export const pagePictureQuery = ({ base_id, id, version }: KnowledgeDocument, page: number) =>
  queryOptions({
    queryKey: [...knowledgeKeys.document(base_id, id), "picture", page, version],
    queryFn: async ({ signal }) =>
      (await unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/documents/{document_id}/pages/{page}", {
          params: { path: { base_id, document_id: id, page }, query: { version } },
          parseAs: "blob",
          signal,
        }),
      )) as Blob,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export interface SearchOptions {
  /** By words, by meaning or both; null: as the base allows. */
  mode: SearchMode | null;
  /** Passages before and after each one. */
  neighbours: number;
  /** From 0, the best passages, to 1, passages that share few words. */
  diversity: number;
  /** Whether the passages are reranked; null: where the base has a model, and it answers. */
  rerank: boolean | null;
  /** What the metadata of documents must be. */
  filters: Condition[];
  /** Queries that a model writes, and the model; 0, or an empty model: none. */
  written: { query_model: string; queries: number };
}

const NOT_WRITTEN = { query_model: "", queries: 1 };

/** What a request says about queries that a model writes. */
export const writtenBody = (written: SearchOptions["written"]) =>
  written.query_model && written.queries > 0 ? written : NOT_WRITTEN;

export const searchQuery = (base_id: string, query: string, { written, ...options }: SearchOptions) =>
  queryOptions({
    queryKey: knowledgeKeys.search(base_id, query, { ...options, written }),
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/knowledge-bases/{base_id}/search", {
          params: { path: { base_id } },
          body: { query, limit: 10, max_tokens: 10_000, conversation: "", ...options, ...writtenBody(written) },
          signal,
        }),
      ),
  });

export const chooseEmbedding = (base_id: string, embedding_model: string) =>
  unwrap(api.PATCH("/api/v1/knowledge-bases/{base_id}", { params: { path: { base_id } }, body: { embedding_model } }));

export const chooseReranker = (base_id: string, rerank_model: string, rerank_candidates: number) =>
  unwrap(
    api.PATCH("/api/v1/knowledge-bases/{base_id}", {
      params: { path: { base_id } },
      body: { rerank_model, rerank_candidates },
    }),
  );

export const chooseRetention = (base_id: string, retention_days: number) =>
  unwrap(api.PATCH("/api/v1/knowledge-bases/{base_id}", { params: { path: { base_id } }, body: { retention_days } }));

export const chooseSizes = (base_id: string, sizes: { passage_tokens: number; overlap_tokens: number }) =>
  unwrap(api.PATCH("/api/v1/knowledge-bases/{base_id}", { params: { path: { base_id } }, body: sizes }));

export const createBase = (body: { name: string; description: string; embedding_model: string }) =>
  unwrap(api.POST("/api/v1/knowledge-bases", { body: { ...body, passage_tokens: 400, overlap_tokens: 40 } }));

export const deleteBase = (base_id: string) =>
  unwrap(api.DELETE("/api/v1/knowledge-bases/{base_id}", { params: { path: { base_id } } }));

export const addDocument = (base_id: string, file_id: string, metadata: Metadata | null = null) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/documents", {
      params: { path: { base_id } },
      body: { file_id, source: "upload", language: "", ...(metadata ? { metadata } : {}) },
    }),
  );

export type DocumentChange = components["schemas"]["DocumentChange"];

export const changeDocument = ({ base_id, id }: KnowledgeDocument, body: DocumentChange) =>
  unwrap(
    api.PATCH("/api/v1/knowledge-bases/{base_id}/documents/{document_id}", {
      params: { path: { base_id, document_id: id } },
      body,
    }),
  );

export const changeReaders = (document: KnowledgeDocument, role: ReaderRole | null) =>
  changeDocument(document, {
    readers: { users: document.readers.users ?? [], groups: document.readers.groups ?? [], role },
  });

export const deleteDocument = ({ base_id, id }: KnowledgeDocument) =>
  unwrap(
    api.DELETE("/api/v1/knowledge-bases/{base_id}/documents/{document_id}", {
      params: { path: { base_id, document_id: id } },
    }),
  );

export const reindexDocument = ({ base_id, id }: KnowledgeDocument) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/{base_id}/documents/{document_id}/reindex", {
      params: { path: { base_id, document_id: id } },
    }),
  );

type CitationIn = components["schemas"]["CitationIn"];

/** Whether the cited texts are in the documents of those checksums that the user may read; in their order. */
export const verifyCitations = (citations: readonly CitationIn[]) =>
  unwrap(
    api.POST("/api/v1/knowledge-bases/verify", {
      body: {
        citations: citations.map(({ document_id, version, document_sha256, start, end, sha256 }) => ({
          document_id,
          version,
          document_sha256,
          start,
          end,
          sha256,
        })),
      },
    }),
  );
