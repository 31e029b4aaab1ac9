import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, type Client } from "../api/client";

const ClientContext = createContext<Client | null>(null);
export const ClientProvider = ClientContext.Provider;

/** The service. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (!client) throw new Error("there is no client");
  return client;
}

const AnnounceContext = createContext<(text: string) => void>(() => undefined);
export const AnnounceProvider = AnnounceContext.Provider;

/** Tells something to those who do not see it, and to those who do in the corner of the page. */
export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}

/** Any error as one of the service's. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(-1, "console", error instanceof Error ? error.message : String(error), "");
}

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  /** Loads again; what is shown stays until the new answer is there. */
  reload: () => void;
  /** Puts a newer value in place, such as the answer to a change; what is being loaded is dropped. */
  set: (value: T) => void;
  /** Changes a part of the value; what is being loaded still comes. */
  change: (change: (value: T) => T) => void;
}

/** What `load` gives, whenever `load` is another function than before. Answers that come too late are dropped. */
export function useLoad<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: ApiError | null; loading: boolean }>({
    value: null,
    error: null,
    loading: true,
  });
  const turn = useRef(0);
  const run = useCallback(() => {
    const own = ++turn.current;
    setState((before) => ({ ...before, loading: true }));
    load().then(
      (value) => {
        if (own === turn.current) setState({ value, error: null, loading: false });
      },
      (error: unknown) => {
        if (own === turn.current) setState((before) => ({ ...before, error: asApiError(error), loading: false }));
      },
    );
  }, [load]);
  useEffect(() => {
    setState({ value: null, error: null, loading: true });
    run();
    return () => {
      turn.current += 1;
    };
  }, [run]);
  const set = useCallback((value: T) => {
    turn.current += 1;
    setState({ value, error: null, loading: false });
  }, []);
  const change = useCallback((change: (value: T) => T) => {
    setState((before) => (before.value === null ? before : { ...before, value: change(before.value) }));
  }, []);
  return { ...state, reload: run, set, change };
}

export interface Action {
  busy: boolean;
  error: ApiError | null;
  /** Does something, one thing at a time; whether it went well. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
}

/** Something that a button starts. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const running = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (error) {
      setError(asApiError(error));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }, []);
  return { busy, error, run, clear: useCallback(() => setError(null), []) };
}

/** The value, once it has not changed for a while. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
