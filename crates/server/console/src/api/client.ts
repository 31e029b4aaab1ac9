import { t } from "../lang";
import { helpFor, messageFor } from "../lib/problem";
import type {
  Agent,
  AgentSettings,
  Appended,
  Channel,
  ChannelBody,
  Compacted,
  ContextReport,
  EditedSummary,
  EpochAnswer,
  SearchResult,
  HistoryItem,
  Messages,
  ProxiedConversations,
  Ready,
  RecalledContent,
  Report,
  Session,
  SessionList,
  SessionPreview,
  StoredMessage,
} from "./types";

/** The service refused a request, or could not be reached (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly help: string,
    readonly report: Report | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Where the token comes from. It is sent as a header and stands in no address. */
export interface TokenSource {
  /** The token that is known, or null. */
  current(): string | null;
  /** Another one than `refused`, asked of the person; null where they give up. */
  ask(refused: string | null): Promise<string | null>;
}

export type View = "compacted" | "full";

export interface CompactOptions {
  focus?: string;
  target?: number;
}

const JSON_TYPE = "application/json";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The service's error in the console's words, or what can be said of an answer that is none of its own. */
export function errorOf(status: number, body: unknown): ApiError {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const text = (name: string, otherwise: string) => {
    const value = error[name];
    return typeof value === "string" ? value : otherwise;
  };
  // The report stands inside the error or beside it.
  const report = error["report"] ?? (isRecord(body) ? body["report"] : undefined);
  const code = text("code", "unknown");
  return new ApiError(
    status,
    code,
    messageFor(code, text("message", t.errors.status(status))),
    helpFor(code, text("help", "")),
    isRecord(report) ? (report as unknown as Report) : null,
  );
}

function query(parameters: Record<string, string | number | boolean | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** The service's HTTP interface. Every method rejects with an {@link ApiError}. */
export class Client {
  constructor(
    private readonly tokens: TokenSource,
    private readonly life?: AbortSignal,
  ) {}

  /** The same service for as long as `life`: what is being read when it ends is broken off. Changes are finished. */
  until(life: AbortSignal): Client {
    return new Client(this.tokens, life);
  }

  /** Whether the service runs, and as what. */
  ready(): Promise<Ready> {
    return this.json("GET", "/readyz");
  }

  sessions(filter: { title?: string; agent?: string; after?: string | null }): Promise<SessionList> {
    return this.json("GET", `/v1/sessions${query({ ...filter, limit: 50 })}`);
  }

  create(session: { title?: string; agent?: string }): Promise<Session> {
    return this.json("POST", "/v1/sessions", session);
  }

  /** The sessions of a recorded session's file, and what was passed over in reading it. */
  async importFile(file: Blob): Promise<{ sessions: Session[]; warnings: string[] }> {
    const answer = await this.send("POST", "/v1/sessions/import", file, "application/octet-stream");
    return (await answer.json()) as { sessions: Session[]; warnings: string[] };
  }

  session(id: string): Promise<Session> {
    return this.json("GET", path(id));
  }

  update(id: string, changes: { title?: string | null; agent?: string | null }): Promise<Session> {
    return this.json("PATCH", path(id), changes);
  }

  async remove(id: string): Promise<void> {
    await this.send("DELETE", path(id));
  }

  messages(id: string, view: View, from: number, limit: number): Promise<Messages> {
    return this.json("GET", `${path(id)}/messages${query({ view, from, limit })}`);
  }

  behind(id: string, summary: string, from: number, limit: number): Promise<Messages> {
    return this.json("GET", `${path(id)}/messages/${encodeURIComponent(summary)}/behind${query({ from, limit })}`);
  }

  /** Everything that was said, searched. */
  search(id: string, words: string, page: number): Promise<SearchResult> {
    return this.json("GET", `${path(id)}/search${query({ q: words, page })}`);
  }

  summary(id: string): Promise<StoredMessage> {
    return this.json("GET", `${path(id)}/summary`);
  }

  /** Appends what a person typed; a slash command is run instead, unless `commands` is false. */
  say(id: string, text: string, commands = true): Promise<Appended> {
    const messages = [{ role: "user", content: text }];
    return this.json("POST", `${path(id)}/messages`, { messages, format: "openai-chat", commands });
  }

  preview(id: string, options: CompactOptions): Promise<SessionPreview> {
    return this.json("POST", `${path(id)}/preview?messages=true`, options);
  }

  apply(id: string, draft: string, summaries: EditedSummary[]): Promise<Compacted> {
    return this.json("POST", `${path(id)}/apply`, { draft, summaries });
  }

  compact(id: string, options: CompactOptions): Promise<Compacted> {
    return this.json("POST", `${path(id)}/compact`, options);
  }

  undo(id: string, epoch: number): Promise<unknown> {
    return this.json("POST", `${path(id)}/undo`, { epoch });
  }

  /** What fills the context, what would leave it next, and what has left it. */
  context(id: string): Promise<ContextReport> {
    return this.json("GET", `${path(id)}/context`);
  }

  async history(id: string): Promise<HistoryItem[]> {
    return (await this.json<{ epochs: HistoryItem[] }>("GET", `${path(id)}/history`)).epochs;
  }

  epoch(id: string, epoch: number): Promise<EpochAnswer> {
    return this.json("GET", `${path(id)}/epochs/${epoch}`);
  }

  recall(id: string, handle: string): Promise<RecalledContent> {
    return this.json("GET", `${path(id)}/recall/${encodeURIComponent(handle)}`);
  }

  /** The conversations that go through the proxy. */
  proxied(): Promise<ProxiedConversations> {
    return this.json("GET", `/v1/proxy/conversations${query({ limit: 100 })}`);
  }

  async agents(): Promise<Agent[]> {
    return (await this.json<{ items: Agent[] }>("GET", "/v1/agents")).items;
  }

  saveAgent(name: string, settings: AgentSettings): Promise<unknown> {
    return this.json("PUT", `/v1/agents/${encodeURIComponent(name)}`, { settings });
  }

  async removeAgent(name: string): Promise<void> {
    await this.send("DELETE", `/v1/agents/${encodeURIComponent(name)}`);
  }

  async channels(compaction?: boolean): Promise<Channel[]> {
    return (await this.json<{ items: Channel[] }>("GET", `/v1/channels${query({ compaction })}`)).items;
  }

  saveChannel(name: string, settings: ChannelBody): Promise<unknown> {
    return this.json("PUT", `/v1/channels/${encodeURIComponent(name)}`, settings);
  }

  async removeChannel(name: string): Promise<void> {
    await this.send("DELETE", `/v1/channels/${encodeURIComponent(name)}`);
  }

  /** An open answer with the session's events; `last` is the number of the last one seen. */
  events(id: string, last: string | null, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (last !== null) headers["last-event-id"] = last;
    return this.send("GET", `${path(id)}/events`, undefined, undefined, { headers, signal });
  }

  private async json<T>(method: string, address: string, body?: unknown): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.send(method, address, text, text === undefined ? undefined : JSON_TYPE);
    return (await answer.json()) as T;
  }

  private async send(
    method: string,
    address: string,
    body?: BodyInit,
    type?: string,
    more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const signal = more.signal ?? (method === "GET" ? this.life : undefined);
    let token = this.tokens.current();
    for (;;) {
      const headers = new Headers(more.headers);
      if (type !== undefined) headers.set("content-type", type);
      if (token !== null) headers.set("authorization", `Bearer ${token}`);
      const init: RequestInit = { method, headers, credentials: "omit", cache: "no-store", redirect: "error" };
      if (body !== undefined) init.body = body;
      if (signal) init.signal = signal;
      let answer: Response;
      try {
        answer = await fetch(`..${address}`, init); // relative to /console/
      } catch (error) {
        if (signal?.aborted) throw error;
        throw new ApiError(0, "unreachable", t.errors.unreachable, t.errors.unreachableHelp);
      }
      if (answer.ok) return answer;
      if (answer.status === 401) {
        token = await this.tokens.ask(token);
        if (token !== null) continue;
      }
      throw errorOf(answer.status, await answer.json().catch(() => null));
    }
  }
}

function path(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}
