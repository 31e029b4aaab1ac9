import { t } from "../lang";
import { commandList } from "./commands";

/** Words for programs: names of fields, requests, headers. */
const FOR_PROGRAMS = /`|\b(?:GET|POST|PUT|PATCH|DELETE)\b|…\/|\/v1\b|Retry-After|header/;

/** What to do, in the console's words; the service's help where it speaks to people, and nothing where it does not. */
export function helpFor(code: string, help: string): string {
  if (code === "bad-command") return commandList();
  const own: Record<string, string> = t.help;
  return own[code] ?? (FOR_PROGRAMS.test(help) ? "" : help);
}

/** What is wrong, in the console's words. */
export function messageFor(code: string, message: string): string {
  return t.problems[code] ?? message;
}
