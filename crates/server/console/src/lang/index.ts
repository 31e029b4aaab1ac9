import { setLocale } from "../lib/format";
import { en } from "./en";
import { zh } from "./zh";

/** What a language says. Of problems, whose English words are the service's own, each has those that it likes. */
export type Strings = Omit<typeof en, "problems"> & { problems: Record<string, string> };

/** The languages, by their tags. */
export const LANGUAGES = { en, "zh-CN": zh } satisfies Record<string, Strings>;

export type Language = keyof typeof LANGUAGES;

const KEY = "epitome.language";
const ALL = Object.keys(LANGUAGES) as Language[];

/** What is said now. It changes with the language: nothing may keep a text of it for longer than it renders. */
export let t: Strings = en;

/** The language that was chosen in this browser, or else the first of those that the browser asks for that is there. */
export function chosenLanguage(storage: Pick<Storage, "getItem">, asked: readonly string[]): Language {
  const stored = storage.getItem(KEY);
  const wanted = stored === null ? asked : [stored, ...asked];
  const base = (tag: string) => tag.split("-", 1)[0]?.toLowerCase();
  for (const tag of wanted) {
    const found = ALL.find((language) => base(language) === base(tag));
    if (found) return found;
  }
  return "en";
}

/** The one that the button goes to from `language`. */
export function nextLanguage(language: Language): Language {
  return ALL[(ALL.indexOf(language) + 1) % ALL.length] ?? "en";
}

/** Speaks a language from now on. */
export function speak(language: Language): void {
  t = LANGUAGES[language];
  setLocale(language);
}

/** Keeps the choice of a language for the next time. */
export function keepLanguage(language: Language, storage: Pick<Storage, "setItem">): void {
  storage.setItem(KEY, language);
}
