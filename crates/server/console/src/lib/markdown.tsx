import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";

import { t } from "../lang";

/** Texts longer than this are shown as they are: nobody reads them as a page, and parsing them would stall it. */
const LONGEST = 200_000;

/** What an address may begin with. Everything else, `javascript:` and `data:` among it, becomes plain text. */
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i;

/** How deep lists and quotes may nest before the rest is shown as it is. */
const DEEPEST = 24;

/**
 * Markdown as elements. There is no way through HTML: what is not known here, raw HTML included, is shown as text, and
 * images are shown as their address, because the console asks nobody but its service for anything.
 */
export function Markdown({ text, firstHeading = 3, leaf = (part) => part }: Properties): VNode {
  if (text.length > LONGEST) return <pre class="plain">{leaf(text)}</pre>;
  const tokens = new Lexer({ gfm: true }).lex(text);
  const levels = tokens.flatMap((token) => (token.type === "heading" ? [(token as Tokens.Heading).depth] : []));
  const place = { depth: 0, top: Math.min(6, ...levels), first: firstHeading, leaf };
  return (
    <div class="markdown" dir="auto">
      {blocks(tokens, place)}
    </div>
  );
}

interface Properties {
  text: string;
  /** The level of the text's highest heading, below the one that it stands under. */
  firstHeading?: 2 | 3;
  /** What a piece of plain text becomes. */
  leaf?: (part: string) => ComponentChildren;
}

/** How deep a token is nested, the level of the text's highest heading and the one that it gets, and what texts become. */
interface Place {
  depth: number;
  top: number;
  first: number;
  leaf: (part: string) => ComponentChildren;
}

function within(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function blocks(tokens: Token[], place: Place): ComponentChildren[] {
  return tokens.map((token) => block(token, place));
}

function block(token: Token, place: Place): ComponentChildren {
  if (place.depth > DEEPEST) return place.leaf(token.raw);
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const { depth: level, tokens } = token as Tokens.Heading;
      const Heading = `h${Math.min(Math.max(level - place.top, 0) + place.first, 6)}` as "h3";
      return <Heading>{inlines(tokens, place)}</Heading>;
    }
    case "paragraph":
      return <p>{inlines((token as Tokens.Paragraph).tokens, place)}</p>;
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{place.leaf((token as Tokens.Code).text)}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, within(place))}</blockquote>;
    case "list":
      return list(token as Tokens.List, place);
    case "table":
      return table(token as Tokens.Table, place);
    case "hr":
      return <hr />;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlines(tokens, place) : place.leaf(characters(text));
    }
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "☑ " : "☐ ";
    default: // raw HTML, and whatever a later version of the parser knows
      return <p class="verbatim">{place.leaf(token.raw)}</p>;
  }
}

function list(list: Tokens.List, place: Place): VNode {
  const items = list.items.map((item) => <li>{blocks(item.tokens, within(place))}</li>);
  if (!list.ordered) return <ul>{items}</ul>;
  return typeof list.start === "number" && list.start !== 1 ? <ol start={list.start}>{items}</ol> : <ol>{items}</ol>;
}

function table(table: Tokens.Table, place: Place): VNode {
  return (
    <div class="table" tabIndex={0} role="group" aria-label={t.words.table}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell) => (
              <th scope="col">{inlines(cell.tokens, place)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inlines(cell.tokens, place)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: Token[], place: Place): ComponentChildren[] {
  return tokens.map((token) => inline(token, within(place)));
}

function inline(token: Token, place: Place): ComponentChildren {
  if (place.depth > DEEPEST) return place.leaf(token.raw);
  switch (token.type) {
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlines(tokens, place) : place.leaf(characters(text));
    }
    case "escape":
      return place.leaf((token as Tokens.Escape).text);
    case "strong":
      return <strong>{inlines((token as Tokens.Strong).tokens, place)}</strong>;
    case "em":
      return <em>{inlines((token as Tokens.Em).tokens, place)}</em>;
    case "del":
      return <del>{inlines((token as Tokens.Del).tokens, place)}</del>;
    case "codespan":
      return <code>{place.leaf((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link, place);
    case "image": {
      const { text, href } = token as Tokens.Image;
      return `🖼 ${text} (${href})`;
    }
    default:
      return place.leaf(token.raw);
  }
}

function link({ href, tokens }: Tokens.Link, place: Place): ComponentChildren {
  const address = safeAddress(href);
  if (address === null) return [inlines(tokens, place), ` (${href})`];
  return (
    <a href={address} rel="noreferrer noopener nofollow" target="_blank" title={address}>
      {inlines(tokens, place)}
    </a>
  );
}

/** The address, where following it can do nothing but open a page or a mail. */
export function safeAddress(address: string): string | null {
  // Browsers drop white space and control characters inside a scheme: so does the check, and what is left is used.
  const bare = Array.from(address).filter((character) => character > " ").join("");
  return SAFE_ADDRESS.test(bare) && URL.canParse(bare) ? bare : null;
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references as characters; the result is text and never markup. */
function characters(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,5}));/gi, (whole, decimal, hexadecimal, name) => {
    if (typeof name === "string") return NAMED[name] ?? whole;
    const point = typeof decimal === "string" ? Number.parseInt(decimal, 10) : Number.parseInt(String(hexadecimal), 16);
    const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000);
    return isCharacter ? String.fromCodePoint(point) : whole;
  });
}
