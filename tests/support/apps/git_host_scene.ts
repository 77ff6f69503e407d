import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "./app.ts";
import { ownerSession } from "./app.ts";
import { TestProject } from "./deploying.ts";
import { type TestDatabase, testDatabase } from "../database/test_database.ts";
import { pushPayload } from "../inputs/webhook_payloads.ts";
import { EmulatedGitHost } from "../peers/emulated_git_host.ts";
import { git } from "../peers/git_server.ts";
import { type Settings, SlipwayProcess } from "../servers/slipway_process.ts";

type Push = { readonly before: string; readonly after: string };

const CALLBACK = "/api/githost/connect/redirect";
const WEBHOOK = "/api/githost/webhook";

/** Signs what the app itself reports. */
const WEBHOOK_SECRET = "webhook-secret-canary";

/**
 * A server, and the emulated git host that its settings name, with the organization `acme`, its admin `ada`, and `eve`, who
 * has nothing to do with either. It acts as the owner, and as ada's browser.
 */
export class GitHostScene implements AsyncDisposable {
  readonly host: EmulatedGitHost;
  readonly slipway: SlipwayProcess;
  readonly database: TestDatabase;
  readonly #folder: string;
  readonly #lifetime: AsyncDisposableStack;
  #cookie: string | undefined;

  private constructor(
    world: { host: EmulatedGitHost; slipway: SlipwayProcess; database: TestDatabase; folder: string },
    lifetime: AsyncDisposableStack,
  ) {
    this.host = world.host;
    this.slipway = world.slipway;
    this.database = world.database;
    this.#folder = world.folder;
    this.#lifetime = lifetime;
  }

  static async start(settings: (host: EmulatedGitHost) => Settings): Promise<GitHostScene> {
    await using opened = new AsyncDisposableStack();
    const host = opened.use(await EmulatedGitHost.start());
    host.addAccount("acme", "Organization");
    host.addAccount("ada");
    host.addAccount("eve");
    host.addMember("acme", "ada");
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const database = opened.use(await testDatabase());
    const urls = { GITHOST_API_URL: host.apiUrl, GITHOST_WEB_URL: host.webUrl, DATABASE_URL: database.url };
    const slipway = opened.use(await SlipwayProcess.start({ ...urls, ...settings(host) }));
    host.redirectUrl = `${slipway.address}${CALLBACK}`;
    return new GitHostScene({ host, slipway, database, folder }, opened.move());
  }

  /** The settings of the emulated host's app, with its webhook and its OAuth. */
  static app(host: EmulatedGitHost): Settings {
    return {
      GITHOST_APP_ID: `${host.appId}`,
      GITHOST_APP_SLUG: "slipway",
      GITHOST_APP_PRIVATE_KEY: host.appPrivateKey,
      GITHOST_WEBHOOK_SECRET: WEBHOOK_SECRET,
      ...GitHostScene.oauth(host),
    };
  }

  /** The settings of the emulated host's OAuth. */
  static oauth(host: EmulatedGitHost): Settings {
    return { GITHOST_CLIENT_ID: host.clientId, GITHOST_CLIENT_SECRET: host.clientSecret };
  }

  /** Secrets of the settings, by name. */
  get secrets(): Settings {
    const { appPrivateKey, clientSecret } = this.host;
    return { "private key": appPrivateKey, "client secret": clientSecret, "webhook secret": WEBHOOK_SECRET };
  }

  get(path: string, token = this.slipway.owner): Promise<Answer> {
    return this.slipway.call("GET", `/api/githost${path}`, { token });
  }

  post(path: string, body: unknown = {}, token = this.slipway.owner): Promise<Answer> {
    return this.slipway.call("POST", `/api/githost${path}`, { token, body });
  }

  /** The state of the connection. */
  async state() {
    return (await this.get("/status")).body.state;
  }

  /** The git host sends the owner's browser back with this. */
  async sendBack(query: Record<string, string>): Promise<Response> {
    this.#cookie ??= await ownerSession(this.slipway);
    const headers = { cookie: `slipway_session=${this.#cookie}` };
    const address = `${this.slipway.address}${CALLBACK}?${new URLSearchParams(query)}`;
    return await fetch(address, { headers, redirect: "manual" });
  }

  /** Installs the app on an account, as ada and the browser of the owner do. Returns the installation's id. */
  async installApp(account: string): Promise<number> {
    const { installUrl } = (await this.get("/status")).body;
    const id = this.host.install(account);
    const query = { installation_id: `${id}`, setup_action: "install", state: stateIn(installUrl) };
    const first = await this.sendBack(query);
    if (first.status !== 302) throw new Error(await first.text());
    const state = stateIn(first.headers.get("location"));
    const second = await this.sendBack({ code: this.host.authorize("ada"), state });
    if (second.status !== 200) throw new Error(await second.text());
    return id;
  }

  /** Connects ada's account by OAuth. */
  async connectAccount(): Promise<void> {
    const { url } = (await this.post("/connect", { source: "oauth" })).body;
    const page = await this.sendBack({ code: this.host.authorize("ada"), state: stateIn(url) });
    if (page.status !== 200) throw new Error(await page.text());
  }

  /** Creates a project that is linked to a repository. */
  link(repository: string, settings: object = {}): Promise<TestProject> {
    const [gitOwner, gitRepo] = repository.split("/");
    return TestProject.create(this.slipway, { name: `Project ${crypto.randomUUID()}`, gitOwner, gitRepo, ...settings });
  }

  /** Pushes files to the branch main of a repository with git, as ada. Nothing is delivered. */
  async push(repository: string, files: Readonly<Record<string, string>>): Promise<Push> {
    const token = this.host.issueToken("ada").reveal();
    const url = `${this.host.origin.replace("://", `://ada:${token}@`)}/${repository}.git`;
    const folder = await mkdtemp(join(this.#folder, "work-"));
    await git(folder, "clone", "--quiet", url, ".");
    const before = await git(folder, "rev-parse", "HEAD");
    for (const [path, content] of Object.entries(files)) await Bun.write(join(folder, path), content);
    await git(folder, "add", "--all");
    await git(folder, "commit", "--quiet", "--allow-empty", "--message", "change");
    await git(folder, "push", "--quiet", "origin", "HEAD:main");
    return { before, after: await git(folder, "rev-parse", "HEAD") };
  }

  /** Delivers a push as the webhook of the app does. */
  async deliver(repository: string, push: Push, installationId: number, deliveryId?: string): Promise<Response> {
    return this.deliverEvent("push", pushPayload(repository, { ...push, installationId }), deliveryId);
  }

  /** Delivers an event as the webhook of the app does. */
  async deliverEvent(event: string, payload: unknown, deliveryId?: string): Promise<Response> {
    const to = { url: `${this.slipway.address}${WEBHOOK}`, secret: WEBHOOK_SECRET };
    return await this.host.deliver(to, event, payload, deliveryId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.disposeAsync();
  }
}

function stateIn(url: string | null): string {
  return new URL(url ?? "").searchParams.get("state") ?? "";
}
