import { Secret } from "../../../domain/secret.ts";
import type { AppSettings } from "../../../wiring/build_application.ts";
import { type Answer, memoryApp } from "./app.ts";

export const APP = { id: 7, slug: "slipway-test", privateKey: new Secret("unused") };
export const OAUTH = { clientId: "client-1", clientSecret: new Secret("oauth-secret-canary") };
export const CONNECT = "/api/githost/connect";
export const CALLBACK = "/api/githost/connect/redirect";

/** The application in memory with a git host: the organization `acme`, the user `ada`, and some repositories. */
export async function gitHostApp(settings: Partial<AppSettings> = {}) {
  const app = await memoryApp(settings);
  const { gitHostState: host } = app.world;
  host.addAccount("acme", "Organization");
  host.addAccount("ada");
  host.addMember("acme", "ada");
  const branches = {
    main: {
      "package.json": '{"name":"shop"}',
      "src/index.ts": "export {};",
      "broken.json": "{",
      "deep.json": "[".repeat(20_000) + "]".repeat(20_000),
      "README.md": "# Shop",
    },
    "feature/cart": { "package.json": '{"name":"cart"}' },
  };
  host.addRepository({ owner: "acme", name: "shop", description: "Sells things", branches });
  host.addRepository({ owner: "acme", name: "secret" });
  host.addRepository({ owner: "ada", name: "notes", private: false });
  const get = (path: string, token = app.owner) => app.call("GET", `/api/githost${path}`, { token });
  const post = (path: string, body: unknown = {}, token = app.owner) =>
    app.call("POST", `/api/githost${path}`, { token, body });
  return { ...app, host, get, post };
}

export type GitHostApp = Awaited<ReturnType<typeof gitHostApp>>;

/** Installs the app on an account as the owner does, by the callback of the git host. Returns the installation's id. */
export async function installApp(
  app: GitHostApp,
  account: string,
  options: { readonly token?: string; readonly repositories?: readonly string[] } = {},
): Promise<number> {
  const { body } = await app.get("/status", options.token);
  const state = new URL(body.installUrl).searchParams.get("state")!;
  app.world.clock.advance(1_000);
  const id = app.host.install(account, options.repositories ?? "all");
  const returned = await confirm(app, { state, installationId: id });
  const next = returned.body.url && new URL(returned.body.url).searchParams.get("state");
  if (next) {
    const done = await confirm(app, { state: next, code: app.host.authorize("ada") });
    if (done.status !== 200) throw new Error(done.text);
  } else if (returned.status !== 200) throw new Error(returned.text);
  return id;
}

/** Confirms the page that the git host sent a browser to. */
export function confirm(app: GitHostApp, body: object): Promise<Answer> {
  return app.call("POST", CALLBACK, { body, headers: { origin: "http://slipway.test" } });
}

/** Connects an account by OAuth. */
export async function connectAccount(app: GitHostApp, login: string, token = app.owner): Promise<void> {
  const { body } = await app.post("/connect", { source: "oauth" }, token);
  const state = new URL(body.url).searchParams.get("state");
  const answer = await confirm(app, { state, code: app.host.authorize(login) });
  if (answer.status !== 200) throw new Error(answer.text);
}
