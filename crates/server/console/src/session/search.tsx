import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { FoundPassage } from "../api/types";
import { t } from "../lang";
import { useAction, useAnnounce, useClient } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { MarkedText, useRecall } from "../ui/recall";

interface Properties {
  session: string;
  /** Shows a message of the full history, by its number. */
  onShow: (number: number) => void;
}

interface Results {
  words: string;
  passages: FoundPassage[];
  /** The next page, where there is one. */
  next: number | null;
}

/** A search over everything that was said, with each hit marked as in or out of the context. */
export function SearchBox({ session, onShow }: Properties): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const [words, setWords] = useState("");
  const [results, setResults] = useState<Results | null>(null);
  const search = useAction();
  useEffect(() => setResults(null), [session]);
  // The browser keeps what was in sight where it was, which is below the hits.
  const section = useRef<HTMLElement>(null);
  const [searches, setSearches] = useState(0);
  useEffect(() => {
    if (searches > 0) section.current?.scrollIntoView({ block: "start" });
  }, [searches]);
  // An answer may arrive when another session is shown.
  const shown = useRef(session);
  shown.current = session;

  const find = (asked: string, page: number) =>
    void search.run(async () => {
      const found = await client.search(session, asked, page);
      if (shown.current !== session) return;
      setResults((before) => ({
        words: asked,
        passages: page === 0 || !before ? found.passages : [...before.passages, ...found.passages],
        next: found.more ? page + 1 : null,
      }));
      if (page > 0) return;
      setSearches((before) => before + 1);
      announce(found.passages.length === 0 ? t.search.nothing : t.counts.passages(found.passages.length));
    });

  const input = useRef<HTMLInputElement>(null);
  return (
    <section ref={section} class="history-search" aria-label={t.search.area}>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim() !== "") find(words.trim(), 0);
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label={t.search.field}
          placeholder={t.search.field}
          value={words}
          maxLength={2000}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="submit" disabled={search.busy || words.trim() === ""}>
          {t.search.search}
        </button>
        {results && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setResults(null);
              setWords("");
              input.current?.focus();
            }}
          >
            {t.words.close}
          </button>
        )}
      </form>
      {search.error && <Problem error={search.error} />}
      {results && results.passages.length === 0 && (
        <p class="quiet-text">{t.search.noMatch(results.words)}</p>
      )}
      {results && results.passages.length > 0 && (
        <>
          <ol class="hits">
            {results.passages.map((passage, position) => (
              <li key={position}>
                <Hit passage={passage} onShow={onShow} />
              </li>
            ))}
          </ol>
          {results.next !== null && (
            <button
              type="button"
              class="quiet"
              disabled={search.busy}
              onClick={() => results.next !== null && find(results.words, results.next)}
            >
              {t.search.more}
            </button>
          )}
        </>
      )}
    </section>
  );
}

function Hit({ passage, onShow }: { passage: FoundPassage; onShow: (number: number) => void }): VNode {
  const recall = useRecall();
  const { handle } = passage;
  return (
    <article class="hit">
      <p class="meta">
        {passage.in_context ? (
          <span class="place in" title={t.search.inWhat}>
            {t.search.in}
          </span>
        ) : (
          <span class="place out" title={t.search.outWhat}>
            {passage.taken_back.includes(passage.number) ? t.search.takenBack : t.search.out}
          </span>
        )}
        <span>#{passage.number}</span>
        <span>{t.message.roles[passage.role]}</span>
        {passage.tool != null && <span>{passage.tool}</span>}
        {passage.file != null && <span class="file">{passage.file}</span>}
        <span class="grow" />
        {handle != null && (
          <button type="button" class="quiet" onClick={() => recall(handle)}>
            {t.words.recall}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => onShow(passage.number)}>
          {t.search.show}
        </button>
      </p>
      <pre class="plain" tabIndex={0}>
        <MarkedText text={passage.text} />
      </pre>
    </article>
  );
}
