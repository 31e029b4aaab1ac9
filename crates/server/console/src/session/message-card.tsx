import type { ComponentChildren, RefObject, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { Content, Media, Message, StoredMessage } from "../api/types";
import { t } from "../lang";
import { gist, readableArguments } from "../lib/blocks";
import { firstLine, lineCount, time, words } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { isTranscript } from "../lib/transcript";
import { MarkedText } from "../ui/recall";

/** Texts longer than this begin folded, in characters. */
const LONG = 1600;

/** The media types that are shown as pictures. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Pictures larger than this stay closed, in characters of base64. */
const LARGEST_PICTURE = 4_000_000;

interface Properties {
  stored: StoredMessage;
  /** Opens a summary, given by the id of its message. */
  onSummary?: ((id: string) => void) | undefined;
  /** Set for the message that somebody looks for: it is highlighted, and can be given the focus. */
  aimed?: RefObject<HTMLElement | null> | undefined;
}

/** A message: who said it, what it holds, and what became of it. */
export function MessageCard({ stored, onSummary, aimed }: Properties): VNode {
  const { message } = stored;
  const hasLeft = stored.compacted_at !== null;
  const [isRaw, setRaw] = useState(false);
  const name = stored.number === null ? label(message) : `#${stored.number}`;
  return (
    <article
      {...(aimed && { ref: aimed, tabIndex: -1, "data-aimed": true })}
      class="message"
      data-role={message.role}
      data-origin={message.origin}
      data-left={hasLeft || undefined}
    >
      <header class="message-head">
        <span class="role">{label(message)}</span>
        {message.name !== undefined && <span class="name">{message.name}</span>}
        {message.pinned && <span class="badge">{t.message.pinned}</span>}
        {stored.is_edited && (
          <span class="badge edited" title={t.message.shortenedWhat}>
            {t.message.shortened}
          </span>
        )}
        <span class="grow" />
        {message.timestamp !== undefined && <time>{time(message.timestamp)}</time>}
        {message.blocks.some(({ content }) => content.type === "text") && (
          <button
            type="button"
            class="link"
            aria-label={isRaw ? t.message.renderedOne(name) : t.message.rawOne(name)}
            onClick={() => setRaw(!isRaw)}
          >
            {isRaw ? t.message.rendered : t.message.raw}
          </button>
        )}
        {stored.number !== null && <span class="number">#{stored.number}</span>}
      </header>
      {hasLeft && <Left stored={stored} onSummary={onSummary} />}
      {stored.is_summary && onSummary && (
        <p class="fate">
          <button type="button" class="link" onClick={() => onSummary(message.id)}>
            {t.message.readSummary}
          </button>
        </p>
      )}
      {message.blocks.map(({ content }, position) => (
        <Block key={position} content={content} isRaw={isRaw} />
      ))}
    </article>
  );
}

function Left({ stored, onSummary }: Properties): VNode {
  const { compacted_at: at, compacted_into: into } = stored;
  return (
    <p class="fate">
      {t.message.left(at !== null && at > 0 ? time(at) : "")}
      {into !== null && onSummary && (
        <>
          {" · "}
          <button type="button" class="link" onClick={() => onSummary(into)}>
            {t.message.instead}
          </button>
        </>
      )}
    </p>
  );
}

/** Who speaks, in words. */
function label(message: Message): string {
  switch (message.origin) {
    case "summary":
    case "notice":
    case "answer":
    case "injected":
    case "tool-output":
    case "developer":
    case "configuration":
      return t.message.origins[message.origin];
    case "instructions":
    case "typed":
    case "model":
    case "tool":
      return t.message.roles[message.role];
  }
}

function Block({ content, isRaw = false }: { content: Content; isRaw?: boolean }): VNode | null {
  switch (content.type) {
    case "text":
      return <Text text={content.text} form={isRaw || isTranscript(content.text) ? "raw" : "markdown"} />;
    case "thinking":
      return (
        <Folded label={content.redacted ? t.message.withheld : t.message.reasoning} hint={t.counts.characters(content.text.length)}>
          {() => <Text text={content.text} form="markdown" isOpen />}
        </Folded>
      );
    case "tool-call":
      return (
        <Folded label={content.name} hint={firstLine(readableArguments(content.arguments.text), 120)} kind="call">
          {() => <Text text={readableArguments(content.arguments.text)} form="code" isOpen />}
        </Folded>
      );
    case "tool-result":
      return (
        <>
          <Folded
            label={content.is_error ? t.message.error : t.message.result}
            hint={`${t.counts.lines(lineCount(content.text))} · ${firstLine(content.text, 100)}`}
            kind={content.is_error ? "error" : "result"}
          >
            {() => <Text text={content.text} form="code" isOpen />}
          </Folded>
          {content.attachments?.map((media, position) => (
            <Picture key={position} media={media} />
          ))}
        </>
      );
    case "media":
      return <Picture media={content} />;
    case "opaque":
      return (
        <Folded label={words(content.kind)} hint={t.message.unknownKind}>
          {() => <Text text={content.json} form="code" isOpen />}
        </Folded>
      );
    case "gone":
      return null;
  }
}

interface FoldedProperties {
  label: string;
  hint: string;
  kind?: string;
  /** What is inside, made when it is first opened. */
  children: () => ComponentChildren;
}

/** Something that is opened by whoever wants to see it. */
function Folded({ label, hint, kind, children }: FoldedProperties): VNode {
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <details class="folded" data-kind={kind} onToggle={(event) => event.currentTarget.open && setWasOpened(true)}>
      <summary>
        <span class="folded-label">{label}</span> <span class="hint">{hint}</span>
      </summary>
      {wasOpened && children()}
    </details>
  );
}

/** How a text is shown: as Markdown, or as the model sees it, character for character. */
type Form = "markdown" | "raw" | "code";

/** A text; a long one begins folded. */
function Text({ text, form, isOpen = false }: { text: string; form: Form; isOpen?: boolean }): VNode {
  const [whole, setWhole] = useState(isOpen && text.length < LONG * 20);
  const cut = whole || text.length <= LONG ? text : `${text.slice(0, safeEnd(text, LONG))}…`;
  // Parsed once: the page is rendered again with every event.
  const page = useMemo(
    () => form === "markdown" && <Markdown text={cut} firstHeading={2} leaf={(part) => <MarkedText text={part} whole={text} />} />,
    [form, cut, text],
  );
  return (
    <>
      {form === "markdown" ? (
        page
      ) : (
        <div class={form === "code" ? "text code" : "text"} dir="auto">
          <MarkedText text={cut} />
        </div>
      )}
      {cut !== text && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {t.message.all(text.length)}
        </button>
      )}
    </>
  );
}

/** `end`, or one less where it would split a character. */
function safeEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

function Picture({ media }: { media: Media }): VNode {
  const { mime, source } = media;
  const what = mime === "" ? t.message.attachmentWord : mime;
  if (source.kind !== "base64" || !PICTURES.has(mime) || source.value.length > LARGEST_PICTURE) {
    return <p class="attachment">{t.message.attachment(what, source.kind === "url" ? firstLine(source.value) : "")}</p>;
  }
  return (
    <Folded label={t.message.picture} hint={t.message.pictureSize(mime, (source.value.length * 3) / 4)}>
      {() => <img class="picture" alt={t.message.pictureOf} src={`data:${mime};base64,${source.value}`} />}
    </Folded>
  );
}

/** A message in one line, to be opened. */
export function MessageLine({ stored }: { stored: StoredMessage }): VNode {
  const { message } = stored;
  return (
    <details class="message-line" data-role={message.role}>
      <summary>
        <span class="role">{label(message)}</span>
        {stored.number !== null && <span class="number">#{stored.number}</span>}
        <span class="hint">{gist(message)}</span>
      </summary>
      {message.blocks.map(({ content }, position) => (
        <Block key={position} content={content} />
      ))}
    </details>
  );
}
