import type { TokenSource } from "./client";

const KEY = "epitome.token";

/** Keeps the token for this tab only, and asks for it once however many requests wait for it. */
export class TokenStore implements TokenSource {
  private asked: Promise<string | null> | null = null;
  /** Opens the question and gives what was answered; set by the page. */
  question: (wasRefused: boolean) => Promise<string | null> = () => Promise.resolve(null);

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {}

  current(): string | null {
    return this.storage.getItem(KEY);
  }

  async ask(refused: string | null): Promise<string | null> {
    const current = this.current();
    if (current !== null && current !== refused) return current; // somebody else has asked meanwhile
    this.storage.removeItem(KEY);
    this.asked ??= this.question(refused !== null).finally(() => (this.asked = null));
    const token = await this.asked;
    if (token !== null) this.storage.setItem(KEY, token);
    return token;
  }

  forget(): void {
    this.storage.removeItem(KEY);
  }
}
