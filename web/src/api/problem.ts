/** What went wrong, as RFC 9457 has it, with Headgate's stable `code` and its `remedy`. */
export interface Problem {
  code: string;
  title: string;
  status: number;
  detail: string;
  remedy?: string;
  [member: string]: unknown;
}

/** An answer of the API that is no success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail || problem.title);
  }

  static offline(cause: unknown): ApiError {
    const error = new ApiError(0, { code: "offline", title: "No connection", status: 0, detail: "" });
    error.cause = cause;
    return error;
  }

  get code(): string {
    return this.problem.code;
  }

  get remedy(): string {
    return this.problem.remedy ?? "";
  }

  /** Whether asking again may help: no connection, too many requests, or a server in trouble. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}
