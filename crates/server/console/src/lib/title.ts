import { t } from "../lang";
import { time } from "./format";

/** An id that a program made up, of hexadecimal digits. */
const MADE_UP = /^[0-9a-f]{32}$/;

/** What a session is called: its title, or its id where a person gave it one. */
export function titleOf({ id, title }: { id: string; title?: string }): string {
  if (title !== undefined && title !== "") return title;
  return MADE_UP.test(id) ? t.sessions.untitled(id.slice(0, 8)) : id;
}

/** The title of a session that is begun in the console. */
export function newTitle(now: number): string {
  return t.sessions.newTitle(time(now));
}
