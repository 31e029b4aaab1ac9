import { createContext, type VNode } from "preact";
import { useCallback, useContext, useMemo, useState } from "preact/hooks";

import type { RecalledContent } from "../api/types";
import { t } from "../lang";
import { diffLines } from "../lib/diff";
import { lineCount } from "../lib/format";
import { pieces } from "../lib/marks";
import { Diff } from "../compare/diff-view";
import { Dialog } from "./dialog";
import { useClient, useLoad } from "./hooks";
import { MessageCard } from "../session/message-card";
import { Problem } from "./problem";

/** Opens what left the context under a handle; `shown` is the text that stands in its place, where it is known. */
export type OpenRecall = (handle: string, shown?: string) => void;

const RecallContext = createContext<OpenRecall>(() => undefined);
export const RecallProvider = RecallContext.Provider;

export function useRecall(): OpenRecall {
  return useContext(RecallContext);
}

/** A text whose marks of elided parts are buttons that bring them back; `whole` is the text that it is a part of. */
export function MarkedText({ text, whole = text }: { text: string; whole?: string }): VNode {
  const recall = useRecall();
  return (
    <>
      {pieces(text).map((piece) =>
        piece.kind === "text" ? (
          piece.text
        ) : (
          <button type="button" class="mark" title={t.context.recall(piece.handle)} onClick={() => recall(piece.handle, whole)}>
            {piece.text}
          </button>
        ),
      )}
    </>
  );
}

interface Properties {
  session: string;
  handle: string;
  shown: string | undefined;
  onClose: () => void;
}

/** What left the context under a handle. */
export function RecallDialog({ session, handle, shown, onClose }: Properties): VNode {
  const client = useClient();
  const loaded = useLoad(useCallback(() => client.recall(session, handle), [client, session, handle]));
  return (
    <Dialog title={t.recall.title(handle)} kind="wide" onClose={onClose}>
      {loaded.error && <Problem error={loaded.error} />}
      {loaded.loading && <p class="quiet-text">{t.recall.fetching}</p>}
      {loaded.value && <RecalledView recalled={loaded.value} shown={shown} />}
    </Dialog>
  );
}

function RecalledView({ recalled, shown }: { recalled: RecalledContent; shown: string | undefined }): VNode {
  if (recalled.messages) {
    return (
      <>
        <p class="quiet-text">{t.recall.messages(recalled.messages.length)}</p>
        <ol class="messages">
          {recalled.messages.map((message, position) => (
            <li key={position}>
              <MessageCard stored={message} />
            </li>
          ))}
        </ol>
      </>
    );
  }
  return <RecalledText text={recalled.text ?? ""} shown={shown} />;
}

function RecalledText({ text, shown }: { text: string; shown: string | undefined }): VNode {
  const [highlighted, setHighlighted] = useState(true);
  const lines = useMemo(() => (shown === undefined ? null : diffLines(text, shown)), [text, shown]);
  const left = lines?.filter((line) => line.kind === "removed").length ?? 0;
  return (
    <>
      <p class="quiet-text">
        {t.recall.text(lineCount(text), text.length, lines && left)}
      </p>
      {lines && (
        <label class="check">
          <input
            type="checkbox"
            checked={highlighted}
            onChange={(event) => setHighlighted(event.currentTarget.checked)}
          />
          {t.recall.highlight}
        </label>
      )}
      {lines && highlighted ? (
        <Diff lines={lines} hide="added" />
      ) : (
        <pre class="plain" tabIndex={0}>
          {text}
        </pre>
      )}
    </>
  );
}

/** The dialog's state for a page about one session. */
export function useRecallDialog(session: string): { open: OpenRecall; dialog: VNode | null } {
  const [recalling, setRecalling] = useState<{ handle: string; shown: string | undefined } | null>(null);
  const open: OpenRecall = useCallback((handle, shown) => setRecalling({ handle, shown }), []);
  const dialog = recalling && (
    <RecallDialog
      session={session}
      handle={recalling.handle}
      shown={recalling.shown}
      onClose={() => setRecalling(null)}
    />
  );
  return { open, dialog };
}
