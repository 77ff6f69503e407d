import { Elysia, t } from "elysia";
import type { ConnectOutcome } from "../../application/githost/complete_connect.ts";
import type { ConnectResult } from "../../application/githost/connect.ts";
import type { GitHostUseCases } from "../../application/githost/use_cases.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Access, Caller } from "../access.ts";
import { operation } from "../operation.ts";
import { about, done, integer, nullable, object, parameters, text, Time } from "../schema.ts";
import { confirmPage, connectedPage } from "./connect_page.ts";
import {
  accountView,
  AccountView,
  ConnectBody,
  DisconnectBody,
  PollView,
  RepositoryView,
  repositoryView,
  stateView,
  StateView,
} from "./schemas.ts";

/** Dependencies of the routes, besides the use cases. */
export interface ConnectionOptions {
  readonly publicUrl: string;
  /** Returns the caller of a browser's session, if there is one. */
  readonly sessionOf: (request: Request) => Promise<Principal | undefined>;
}

const ConnectView = t.Union(
  [
    object({ connected: t.Literal(true, { description: "Already connected" }) }),
    object({
      connected: t.Literal(false, { description: "There is something left to do" }),
      flow: t.Literal("redirect", { description: "Open the URL in a browser" }),
      url: t.String({ description: "Page of the git host" }),
    }),
    object({
      connected: t.Literal(false, { description: "There is something left to do" }),
      flow: t.Literal("device_code", { description: "Type the code in on the page" }),
      userCode: t.String({ description: "Code to type in", examples: ["WDJB-MJHT"] }),
      verificationUri: t.String({ description: "Page of the git host that asks for the code" }),
      expiresAt: { ...Time, description: "Time when the code expires" },
      interval: integer({ description: "Seconds to wait between two requests to connect/poll" }),
    }),
    object({
      connected: t.Literal(false, { description: "There is something left to do" }),
      flow: t.Literal("terminal", { description: "Run the command on the server" }),
      command: t.String({ description: "Command to run", examples: ["gh auth login --hostname github.com"] }),
      message: t.String({ description: "What to do" }),
    }),
  ],
  { title: "ConnectResult" },
);

const CallbackQuery = parameters({
  code: t.Optional(t.String({ maxLength: 500, description: "Code of the git host" })),
  state: t.Optional(t.String({ maxLength: 2_000, description: "State that connect made" })),
  installation_id: t.Optional(t.String({ pattern: "^[1-9][0-9]{0,15}$", description: "ID of the app's installation" })),
  setup_action: t.Optional(t.String({ maxLength: 50, description: "What happened to the installation" })),
  error: t.Optional(t.String({ maxLength: 200, description: "Why the user did not agree" })),
});

const ConfirmBody = object({
  state: text(2_000, { description: "State of the page's address" }),
  code: t.Optional(text(500, { description: "Code of the page's address" })),
  installationId: t.Optional(integer({ minimum: 1, description: "Installation of the page's address" })),
});

const FAILURES = [502, 503];

/** Routes that connect the git host and show the connection. */
export function connectionRoutes(access: Access, useCases: GitHostUseCases, options: ConnectionOptions) {
  return new Elysia({ prefix: "/api/githost", tags: ["Git host"] })
    .use(access)
    .use(stateRoutes(access, useCases))
    .use(localRoutes(access, useCases))
    .post(
      "/connect",
      async ({ principal, body, request }) =>
        connectView(await useCases.connectGitHost(principal, body.source, request.signal)),
      {
        permission: "githost:write",
        body: ConnectBody,
        ...operation({
          name: "githost.connect",
          summary: "Begin to connect the git host; the flow says what to do next",
          answer: ConnectView,
          problems: FAILURES,
          unrepeatable: true,
        }),
      },
    )
    .post(
      "/disconnect",
      async ({ principal, body, query }) => {
        const source = body.source ?? query.source ?? "all";
        await useCases.disconnectGitHost(principal, source);
        return { success: true, source };
      },
      {
        permission: "githost:admin",
        query: parameters({ source: DisconnectBody.properties.source }),
        body: DisconnectBody,
        ...operation({
          name: "githost.disconnect",
          summary: "Drop the stored credentials of a source; uninstalls nothing at the git host",
          answer: done({ source: t.String({ description: "The source that was disconnected" }) }),
        }),
      },
    )
    .use(callbackRoutes(access, useCases, options));
}

function stateRoutes(access: Access, useCases: GitHostUseCases) {
  const accounts = t.Array(AccountView, { description: "Accounts on the git host that the member may see" });
  return new Elysia({ name: "http/githost/state" })
    .use(access)
    .get(
      "/status",
      async ({ principal, request }) => {
        const { state, ...status } = await useCases.readGitHostStatus(principal, request.signal);
        return { ...status, state: stateView(state), accounts: status.accounts.map(accountView) };
      },
      {
        permission: "githost:read",
        ...operation({
          name: "githost.status",
          summary: "Get the state of the connection with the git host",
          answer: object({
            state: StateView,
            accounts,
            installUrl: about("Page on which the app is installed, for ten minutes", nullable(t.String())),
            cloudUnreachable: t.Boolean({ description: "Whether the cloud that knows that page does not answer" }),
          }),
          problems: [400, ...FAILURES],
        }),
      },
    )
    .get(
      "/home",
      async ({ principal, request }) => {
        const { state, accounts: seen, repos } = await useCases.readGitHostHome(principal, request.signal);
        return { state: stateView(state), accounts: seen.map(accountView), repos: repos.map(repositoryView) };
      },
      {
        permission: "githost:read",
        ...operation({
          name: "githost.home",
          summary: "Get the connection with all accounts and repositories that the member may see",
          answer: object({
            state: StateView,
            accounts,
            repos: t.Array(RepositoryView, { description: "Repositories that the member may see" }),
          }),
          problems: [400, ...FAILURES],
        }),
      },
    );
}

function localRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/local" })
    .use(access)
    .get(
      "/local-status",
      async ({ principal, request }) => {
        const { available, login, scopes } = await useCases.readLocalStatus(principal, request.signal);
        return { available, login, scopes: [...scopes] };
      },
      {
        permission: "githost:read",
        ...operation({
          name: "githost.local_status",
          summary: "Get the login of the git host's command-line client on the server; not in cloud mode",
          answer: object({
            available: t.Boolean({ description: "Whether the client is logged in" }),
            login: about("Name of the account", nullable(t.String())),
            scopes: t.Array(t.String(), { description: "Scopes of its token" }),
          }),
          problems: [400, ...FAILURES],
        }),
      },
    )
    .get("/connect/poll", async ({ principal }) => ({ status: await useCases.pollConnect(principal) }), {
      permission: "githost:read",
      ...operation({
        name: "githost.poll",
        summary: "Get the status of the caller's login on another device; not in cloud mode",
        answer: PollView,
      }),
    });
}

function callbackRoutes(access: Access, useCases: GitHostUseCases, { publicUrl, sessionOf }: ConnectionOptions) {
  return new Elysia({ name: "http/githost/callback" })
    .use(access)
    .get(
      "/connect/redirect",
      async ({ query, request, caller }) => {
        const { state, code, error, installation_id: installation } = query;
        const installationId = installation === undefined ? undefined : Number(installation);
        const session = await sessionOf(request);
        const visitor = { session, confirmed: false, origin: originOf(caller) };
        return answer(
          await useCases.completeConnect({ state, code, error, installationId }, visitor, request.signal),
          publicUrl,
        );
      },
      {
        open: "The git host sends browsers here; the state proves who started",
        query: CallbackQuery,
        ...operation({
          name: "githost.callback",
          summary: "The page that the git host sends a browser back to",
          answer: { media: "text/html" },
          redirects: "To the git host, where the user has to authorize first",
          problems: [400, 409, ...FAILURES],
        }),
      },
    )
    .post(
      "/connect/redirect",
      async ({ body, request, caller }) => {
        const visitor = { session: undefined, confirmed: true, origin: originOf(caller) };
        const outcome = await useCases.completeConnect(body, visitor, request.signal);
        if (outcome.next === "redirect") return { success: true, message: "Go on to the git host", url: outcome.url };
        const account = outcome.next === "connected" ? outcome.account : "";
        return { success: true, message: `The account ${account} of the git host is connected to Slipway` };
      },
      {
        open: "Confirms the page that the git host sent a browser to; the state proves who started",
        body: ConfirmBody,
        ...operation({
          name: "githost.confirm",
          unaudited: true,
          summary: "Confirm that the git host is connected, on the page that it sent a browser back to",
          answer: done({
            message: t.String({ description: "What happened" }),
            url: t.Optional(t.String({ description: "Page to open next" })),
          }),
          problems: [403, 409, ...FAILURES],
        }),
      },
    );
}

function answer(outcome: ConnectOutcome, publicUrl: string): Response {
  if (outcome.next === "redirect") return new Response(null, { status: 302, headers: { location: outcome.url } });
  return outcome.next === "confirm" ? confirmPage(outcome) : connectedPage(outcome.account, publicUrl);
}

function originOf({ address, requestId }: Caller) {
  return { from: address, requestId };
}

function connectView(result: ConnectResult) {
  return "expiresAt" in result ? { ...result, expiresAt: result.expiresAt.toISOString() } : result;
}
