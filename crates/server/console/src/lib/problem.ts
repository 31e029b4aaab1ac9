import { commandList } from "./commands";

/**
 * What to do about a problem, by its code, where the service's own help speaks to a program: of routes and fields that
 * nobody sees in the console.
 */
const HELP: Record<string, string> = {
  "already-undone": "the page of the compactions says which are in force",
  "bad-command": commandList(),
  "bad-epoch": "the page of the compactions lists them with their numbers",
  "bad-request": "",
  "bad-settings": "correct what it names",
  "bad-summary": "above each summary stands how long it may be",
  "compaction-running": "wait until it is done: the session's page shows it",
  infeasible: "choose a larger target or a model with a larger window, or shorten the system prompt",
  "no-route": "the page and the service may be of different versions: load the page again",
  "rolled-back": "choose a larger target; [quality] in the configuration says how much has to be kept",
  "store-unavailable": "nothing was changed, unless it broke off at the very end: look at the session, then try again",
  "too-many-requests": "wait a minute; --requests-per-minute sets the limit",
  busy: "try again in a moment",
  "too-large": "open a smaller file, or start the service with a larger --max-body",
  unauthorized: "load the page again and enter the service's token",
  "unknown-agent": "the page Agents lists the agents, and adds one",
  "unknown-channel": "the page Channels lists the channels",
  "unknown-epoch": "the page of the compactions lists them with their numbers",
  "unknown-handle": "marks in the messages, summaries and the page Context name the handles",
  "unknown-session": "it may have been deleted; the page Sessions lists those that there are",
  "unknown-summary": "its compaction was undone: the messages stand in the session again",
  "unreadable-session": "open a file in which an agent recorded a session, plain or gzipped",
};

/** The same for what is wrong. */
const MESSAGES: Record<string, string> = {
  "bad-title": "this cannot be a title",
};

/** Words for programs: names of fields, requests, headers. */
const FOR_PROGRAMS = /`|\b(?:GET|POST|PUT|PATCH|DELETE)\b|…\/|\/v1\b|Retry-After|header/;

/** What to do, in the console's words; the service's help where it speaks to people, and nothing where it does not. */
export function helpFor(code: string, help: string): string {
  return HELP[code] ?? (FOR_PROGRAMS.test(help) ? "" : help);
}

/** What is wrong, in the console's words. */
export function messageFor(code: string, message: string): string {
  return MESSAGES[code] ?? message;
}
