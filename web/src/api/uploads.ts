import { ownHeaders } from "./client";
import { ApiError, type Problem } from "./problem";
import type { components } from "./schema";

export type FileOut = components["schemas"]["FileOut"];

interface UploadOptions {
  /** Told how much is there, from 0 to 1. */
  onProgress?: (part: number) => void;
  signal?: AbortSignal;
}

/** Where the content of a stored file is. */
export function fileAddress(id: string): string {
  return `/api/v1/files/${encodeURIComponent(id)}/content`;
}

/** Upload a file. Throws ApiError, or an AbortError where `signal` ended it. `fetch` cannot tell progress. */
export function uploadFile(file: File, { onProgress, signal }: UploadOptions = {}): Promise<FileOut> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.open("POST", "/api/v1/files");
    request.responseType = "json";
    for (const [name, value] of Object.entries(ownHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total);
    request.onload = () => {
      if (request.status === 201) resolve(request.response as FileOut);
      else reject(new ApiError(request.status, problemOf(request)));
    };
    request.onerror = () => reject(ApiError.offline(null));
    request.onabort = () => reject(new DOMException("Cancelled", "AbortError"));
    request.onloadend = () => signal?.removeEventListener("abort", stop);
    if (signal?.aborted) return reject(new DOMException("Cancelled", "AbortError"));
    signal?.addEventListener("abort", stop);
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}

function problemOf(request: XMLHttpRequest): Problem {
  const body = request.response as Problem | null;
  if (body && typeof body === "object" && "code" in body) return body;
  return { code: "http_error", title: request.statusText || "Error", status: request.status, detail: "" };
}
