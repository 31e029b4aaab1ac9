export type Theme = "auto" | "light" | "dark";

const KEY = "epitome.theme";
const THEMES: readonly Theme[] = ["auto", "light", "dark"];

/** The theme that was chosen in this browser; `auto` follows the system. */
export function chosenTheme(storage: Pick<Storage, "getItem">): Theme {
  const stored = storage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? "auto";
}

/** The one that the button goes to from `theme`. */
export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
}

/** Shows a theme and keeps the choice. */
export function showTheme(theme: Theme, storage: Pick<Storage, "setItem">): void {
  document.documentElement.dataset["theme"] = theme;
  storage.setItem(KEY, theme);
}
