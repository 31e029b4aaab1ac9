import type { ComponentChildren, RefObject, VNode } from "preact";
import { useState } from "preact/hooks";

import type { Content, Media, Message, StoredMessage } from "../api/types";
import { gist, readableArguments } from "../lib/blocks";
import { firstLine, lineCount, plural, short, time, words } from "../lib/format";
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
        {message.pinned && <span class="badge">pinned</span>}
        {stored.is_edited && (
          <span class="badge edited" title="Parts of it left the context">
            shortened
          </span>
        )}
        <span class="grow" />
        {message.timestamp !== undefined && <time>{time(message.timestamp)}</time>}
        {stored.number !== null && <span class="number">#{stored.number}</span>}
      </header>
      {hasLeft && <Left stored={stored} onSummary={onSummary} />}
      {stored.is_summary && onSummary && (
        <p class="fate">
          <button type="button" class="link" onClick={() => onSummary(message.id)}>
            Read the summary and what is behind it
          </button>
        </p>
      )}
      {message.blocks.map(({ content }, position) => (
        <Block key={position} content={content} />
      ))}
    </article>
  );
}

function Left({ stored, onSummary }: Properties): VNode {
  const { compacted_at: at, compacted_into: into } = stored;
  return (
    <p class="fate">
      Left the context{at !== null && at > 0 ? ` on ${time(at)}` : ""}
      {into !== null && onSummary && (
        <>
          {" · "}
          <button type="button" class="link" onClick={() => onSummary(into)}>
            what stands in its place
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
      return "Summary";
    case "notice":
      return "Notice";
    case "answer":
      return "Tool (missing)";
    case "injected":
      return "User (runtime)";
    case "tool-output":
      return "User (tool output)";
    case "developer":
      return "Developer";
    case "configuration":
      return "Configuration";
    case "instructions":
    case "typed":
    case "model":
    case "tool":
      return { system: "System", user: "User", assistant: "Assistant", tool: "Tool" }[message.role];
  }
}

function Block({ content }: { content: Content }): VNode | null {
  switch (content.type) {
    case "text":
      return <Text text={content.text} />;
    case "thinking":
      return (
        <Folded label={content.redacted ? "Reasoning, withheld" : "Reasoning"} hint={plural(content.text.length, "character")}>
          {() => <Text text={content.text} isOpen />}
        </Folded>
      );
    case "tool-call":
      return (
        <Folded label={content.name} hint={firstLine(readableArguments(content.arguments.text), 120)} kind="call">
          {() => <Text text={readableArguments(content.arguments.text)} isOpen isCode />}
        </Folded>
      );
    case "tool-result":
      return (
        <>
          <Folded
            label={content.is_error ? "Error" : "Result"}
            hint={`${plural(lineCount(content.text), "line")} · ${firstLine(content.text, 100)}`}
            kind={content.is_error ? "error" : "result"}
          >
            {() => <Text text={content.text} isOpen isCode />}
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
        <Folded label={words(content.kind)} hint="not known to this version">
          {() => <Text text={content.json} isOpen isCode />}
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

/** A text as the model sees it, character for character; a long one begins folded. */
function Text({ text, isOpen = false, isCode = false }: { text: string; isOpen?: boolean; isCode?: boolean }): VNode {
  const [whole, setWhole] = useState(isOpen && text.length < LONG * 20);
  const cut = whole || text.length <= LONG ? text : `${text.slice(0, safeEnd(text, LONG))}…`;
  return (
    <>
      <div class={isCode ? "text code" : "text"} dir="auto">
        <MarkedText text={cut} />
      </div>
      {cut !== text && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Show all {short(text.length)} characters
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
  const what = mime === "" ? "attachment" : mime;
  if (source.kind !== "base64" || !PICTURES.has(mime) || source.value.length > LARGEST_PICTURE) {
    const where = source.kind === "url" ? ` at ${firstLine(source.value)}` : "";
    return <p class="attachment">Attachment: {what}{where}</p>;
  }
  return (
    <Folded label="Picture" hint={`${mime}, about ${short((source.value.length * 3) / 4)} bytes`}>
      {() => <img class="picture" alt="Picture of the session" src={`data:${mime};base64,${source.value}`} />}
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
