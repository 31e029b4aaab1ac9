import { t } from "../lang";

/** The commands that the field below a session takes, with what they take. */
export const COMMANDS = ["/compact [focus]", "/undo [number]", "/history", "/recall handle", "/context"];

const NAMES = new Set(COMMANDS.map((usage) => usage.split(" ", 1)[0]));

/** A slash and one word, which is no path: what begins so was meant as a command. */
const LIKE_A_COMMAND = /^\/[\p{L}\p{N}_-]+(?=\s|$)/u;

/** The command that a text begins with, where there is no such command; null for every other text. */
export function unknownCommand(text: string): string | null {
  const [name] = LIKE_A_COMMAND.exec(text.trim()) ?? [];
  return name === undefined || NAMES.has(name.toLowerCase()) ? null : name;
}

/** Which commands there are. */
export function commandList(): string {
  return t.composer.commands(COMMANDS);
}
