import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { ApiError, Client, View } from "../api/client";
import type { StoredMessage } from "../api/types";
import { asApiError } from "../ui/hooks";

/** Messages that are fetched at once. */
const PAGE = 50;

/** Messages that are on the page at most: beyond, those at the other end leave it. */
const MOST = 300;

interface Shown {
  view: View;
  from: number;
  total: number;
  messages: StoredMessage[];
}

/** How far from the page's end one still reads its end, in pixels. */
const NEAR_END = 300;

export interface Messages extends Shown {
  /** Counts up whenever the page is to be scrolled to its end: sessions are opened there, where they go on. */
  endings: number;
  loading: boolean;
  error: ApiError | null;
  earlier: () => void;
  later: () => void;
  /** The page that begins with a message, by its place in the view. */
  jump: (to: number) => void;
  toEnd: () => void;
  /** The same part of the session as it is now; where its end was in sight, its end. */
  refresh: () => void;
}

const NOTHING: Omit<Shown, "view"> = { from: 0, total: 0, messages: [] };

/** A part of a view that moves over it: sessions have thousands of messages. Begins at the end, or at `start`. */
export function useMessages(client: Client, session: string, view: View, start: number | null = null): Messages {
  const [shown, setShown] = useState<Shown>({ ...NOTHING, view });
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<ApiError | null>(null);
  const [endings, setEndings] = useState(0);
  const turn = useRef(0);
  const current = useRef(shown);
  current.current = shown;

  const run = useCallback((load: () => Promise<Shown>, goesToEnd = false) => {
    const own = ++turn.current;
    setLoading(true);
    load().then(
      (shown) => {
        if (own !== turn.current) return;
        setShown(shown);
        setError(null);
        setLoading(false);
        if (goesToEnd) setEndings((endings) => endings + 1);
      },
      (error: unknown) => {
        if (own !== turn.current) return;
        setError(asApiError(error));
        setLoading(false);
      },
    );
  }, []);

  const fetchRange = useCallback(
    async (from: number, limit: number): Promise<Shown> => {
      const page = await client.messages(session, view, from, limit);
      return { view, from, total: page.total, messages: page.messages };
    },
    [client, session, view],
  );

  const fetchEnd = useCallback(
    async (most: number): Promise<Shown> => {
      const { total } = await fetchRange(0, 1);
      return fetchRange(Math.max(0, total - most), most);
    },
    [fetchRange],
  );

  useEffect(() => {
    setShown({ ...NOTHING, view });
    run(() => (start === null ? fetchEnd(PAGE) : fetchRange(start, PAGE)), start === null);
    return () => {
      turn.current += 1;
    };
  }, [run, fetchEnd, fetchRange, start, view]);

  const refresh = useCallback(() => {
    const { scrollHeight } = document.documentElement;
    const isNearEnd = scrollY + innerHeight > scrollHeight - NEAR_END;
    run(async () => {
      const { from, total, messages } = current.current;
      const size = Math.max(PAGE, messages.length);
      if (from + messages.length >= total) return fetchEnd(size);
      const again = await fetchRange(from, size);
      return again.messages.length > 0 ? again : fetchEnd(size);
    }, isNearEnd);
  }, [run, fetchEnd, fetchRange]);

  const earlier = useCallback(() => {
    run(async () => {
      const { from, messages } = current.current;
      const start = Math.max(0, from - PAGE);
      const page = await fetchRange(start, from - start);
      return { ...page, messages: [...page.messages, ...messages].slice(0, MOST) };
    });
  }, [run, fetchRange]);

  const later = useCallback(() => {
    run(async () => {
      const { from, messages } = current.current;
      const page = await fetchRange(from + messages.length, PAGE);
      const all = [...messages, ...page.messages];
      const over = Math.max(0, all.length - MOST);
      return { ...page, from: from + over, messages: all.slice(over) };
    });
  }, [run, fetchRange]);

  const jump = useCallback((to: number) => run(() => fetchRange(Math.max(0, to), PAGE)), [run, fetchRange]);
  const toEnd = useCallback(() => run(() => fetchEnd(PAGE), true), [run, fetchEnd]);
  return { ...shown, endings, loading, error, earlier, later, jump, toEnd, refresh };
}
