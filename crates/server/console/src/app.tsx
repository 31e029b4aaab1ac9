import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Client } from "./api/client";
import { TokenStore } from "./api/token";
import { type Route, hashOf, routeOf } from "./lib/route";
import { type Language, LANGUAGES, chosenLanguage, keepLanguage, nextLanguage, speak, t } from "./lang";
import { type Theme, chosenTheme, nextTheme, showTheme } from "./lib/theme";
import { AgentsScreen } from "./screens/agents";
import { ChannelsScreen } from "./screens/channels";
import { ContextScreen } from "./screens/context";
import { EpochScreen } from "./screens/epoch";
import { ProxyScreen } from "./screens/proxy";
import { CompactionsScreen } from "./screens/compactions";
import { SessionsScreen } from "./screens/sessions";
import { PreviewScreen } from "./session/preview-screen";
import { SessionScreen } from "./session/session-screen";
import { Heading } from "./ui/heading";
import { AnnounceProvider, ClientProvider, useClient } from "./ui/hooks";
import { OpeningProvider } from "./ui/opening";
import { useToast } from "./ui/toast";
import { TokenDialog } from "./ui/token-dialog";

/** The console. */
export function App(): VNode {
  const [route, setRoute] = useState<Route>(() => routeOf(location.hash));
  const [asking, setAsking] = useState<{ wasRefused: boolean; answer: (token: string | null) => void } | null>(null);
  const { toast, announce } = useToast();
  const main = useRef<HTMLElement>(null);
  const [language, setLanguage] = useState<Language>(() => chosenLanguage(localStorage, navigator.languages));
  speak(language); // everything below is rendered again with it
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  const client = useMemo(() => {
    const tokens = new TokenStore(sessionStorage);
    tokens.question = (wasRefused) =>
      new Promise((resolve) => {
        setAsking({
          wasRefused,
          answer: (token) => {
            setAsking(null);
            resolve(token);
          },
        });
      });
    return new Client(tokens);
  }, []);

  useEffect(() => {
    const changed = () => {
      setRoute(routeOf(location.hash));
      // As a browser does on a new page: begin at the top, and let screen readers read the heading.
      scrollTo(0, 0);
      requestAnimationFrame(() => main.current?.querySelector("h1")?.focus());
    };
    addEventListener("hashchange", changed);
    setRoute(routeOf(location.hash)); // it may have changed between the first rendering and now
    return () => removeEventListener("hashchange", changed);
  }, []);

  return (
    <ClientProvider value={client}>
      <AnnounceProvider value={announce}>
        <button type="button" class="skip" onClick={() => main.current?.focus()}>
          {t.skip}
        </button>
        <header class="top">
          <a class="brand" href="#/">
            epitome
          </a>
          <nav aria-label={t.console}>
            <NavLink to={{ page: "sessions" }} current={isAboutSessions(route)} text={t.sessions.title} />
            <NavLink to={{ page: "proxy" }} current={route.page === "proxy"} text={t.proxy.title} />
            <NavLink to={{ page: "agents" }} current={route.page === "agents"} text={t.agents.title} />
            <NavLink to={{ page: "channels" }} current={route.page === "channels"} text={t.channels.title} />
          </nav>
          <span class="grow" />
          <LanguageButton
            language={language}
            onChange={(chosen) => {
              keepLanguage(chosen, localStorage);
              setLanguage(chosen);
            }}
          />
          <ThemeButton />
        </header>
        <OpeningProvider>
          <main ref={main} tabIndex={-1}>
            <Page key={hashOf(route)}>
              <Screen route={route} />
            </Page>
          </main>
        </OpeningProvider>
        {asking && <TokenDialog wasRefused={asking.wasRefused} onAnswer={asking.answer} />}
        {toast}
      </AnnounceProvider>
    </ClientProvider>
  );
}

function isAboutSessions({ page }: Route): boolean {
  return page !== "agents" && page !== "channels" && page !== "proxy" && page !== "unknown";
}

function NavLink({ to, current, text }: { to: Route; current: boolean; text: string }): VNode {
  return (
    <a href={hashOf(to)} aria-current={current ? "page" : undefined}>
      {text}
    </a>
  );
}

function LanguageButton({ language, onChange }: { language: Language; onChange: (language: Language) => void }): VNode {
  const next = nextLanguage(language);
  return (
    <button type="button" class="quiet" lang={next} onClick={() => onChange(next)}>
      {LANGUAGES[next].name}
    </button>
  );
}

function ThemeButton(): VNode {
  const [theme, setTheme] = useState<Theme>(() => chosenTheme(localStorage));
  useEffect(() => showTheme(theme, localStorage), [theme]);
  return (
    <button
      type="button"
      class="quiet"
      aria-label={t.colours.change(t.colours[theme], t.colours[nextTheme(theme)])}
      onClick={() => setTheme(nextTheme(theme))}
    >
      <span aria-hidden="true">{{ auto: "◐", light: "○", dark: "●" }[theme]}</span> <span class="wide-only">{t.colours[theme]}</span>
    </button>
  );
}

/** What a page reads is broken off when one leaves it: nobody waits for that answer, or wants to hear that it failed. */
function Page({ children }: { children: ComponentChildren }): VNode {
  const client = useClient();
  const life = useMemo(() => new AbortController(), []);
  useEffect(() => () => life.abort(), [life]);
  const own = useMemo(() => client.until(life.signal), [client, life]);
  return <ClientProvider value={own}>{children}</ClientProvider>;
}

function Screen({ route }: { route: Route }): VNode {
  switch (route.page) {
    case "sessions":
      return <SessionsScreen />;
    case "session":
      return <SessionScreen id={route.id} />;
    case "preview":
      return <PreviewScreen id={route.id} />;
    case "proxy":
      return <ProxyScreen />;
    case "compactions":
      return <CompactionsScreen id={route.id} />;
    case "context":
      return <ContextScreen id={route.id} />;
    case "epoch":
      return <EpochScreen id={route.id} epoch={route.epoch} />;
    case "agents":
      return <AgentsScreen />;
    case "channels":
      return <ChannelsScreen />;
    case "unknown":
      return (
        <>
          <Heading title={t.noSuchPage} />
          <a href="#/">{t.sessions.title}</a>
        </>
      );
  }
}
