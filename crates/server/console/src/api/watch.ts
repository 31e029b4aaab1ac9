import { ApiError, type Client } from "./client";
import { SseParser } from "./sse";
import type { SessionEvent } from "./types";

/** The first and the longest wait before it connects again, in milliseconds. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

export interface Watcher {
  event(event: SessionEvent): void;
  /** Events may be missing: the session is to be read again. */
  missed(): void;
  connected(yes: boolean): void;
}

/**
 * Tells what happens to a session until the returned function is called. Reads the stream with `fetch`, because an
 * `EventSource` sends no headers and the token would have to stand in the address.
 */
export function watch(client: Client, session: string, watcher: Watcher): () => void {
  const stop = new AbortController();
  void run(client, session, watcher, stop.signal);
  return () => stop.abort();
}

async function run(client: Client, session: string, watcher: Watcher, signal: AbortSignal): Promise<void> {
  let last: string | null = null;
  let wait = FIRST_WAIT;
  let wasLost = false;
  for (;;) {
    try {
      const answer = await client.events(session, last, signal);
      watcher.connected(true);
      if (wasLost) watcher.missed();
      const parser = new SseParser();
      for await (const piece of pieces(answer)) {
        for (const event of parser.push(piece)) {
          last = event.id;
          wait = FIRST_WAIT;
          const told = eventOf(event.event, event.data);
          if (event.event === "missed") watcher.missed();
          else if (told) watcher.event(told);
        }
      }
    } catch (error) {
      if (isOver(signal)) return;
      // The session is gone, or the token was refused and none was given: trying again changes nothing.
      const status = error instanceof ApiError ? error.status : 0;
      if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
        watcher.connected(false);
        return;
      }
    }
    if (isOver(signal)) return;
    wasLost = true;
    watcher.connected(false);
    await pause(wait, signal);
    if (isOver(signal)) return;
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

/** A function, because the signal changes while the compiler believes that it does not. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function* pieces(answer: Response): AsyncGenerator<string> {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The event, where it is one that is known by its name. */
export function eventOf(name: string, data: string): SessionEvent | null {
  try {
    const value = JSON.parse(data) as unknown;
    if (typeof value !== "object" || value === null) return null;
    return { ...value, event: name } as SessionEvent;
  } catch {
    return null;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
