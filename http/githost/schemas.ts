import { t } from "elysia";
import type { ConnectionState } from "../../application/githost/connection_state.ts";
import type { SourcedRepository } from "../../application/githost/list_repositories.ts";
import type { SourcedAccount } from "../../application/githost/read_status.ts";
import type { HostHook } from "../../domain/githost/host_hook.ts";
import { ACCOUNT_TYPE, DEVICE_STATUS, FILE_TYPE, GIT_HOST_SOURCE } from "../meanings.ts";
import {
  about,
  described,
  explained,
  flag,
  integer,
  nullable,
  object,
  PageFields,
  parameters,
  text,
  Time,
} from "../schema.ts";

export const Source = explained(GIT_HOST_SOURCE, { title: "GitHostSource", examples: ["app"] });

export const AccountView = object(
  described(
    {
      login: t.String({ examples: ["acme"] }),
      id: integer(),
      type: explained(ACCOUNT_TYPE, { title: "GitAccountType" }),
      avatarUrl: nullable(t.String()),
      source: Source,
    },
    {
      login: "Name of the account on the git host",
      id: "ID of the account on the git host",
      type: "Whether it is a person or an organization",
      avatarUrl: "Picture of the account",
      source: "How Slipway sees the account",
    },
  ),
  { title: "GitAccount" },
);

export const RepositoryView = object(
  described(
    {
      id: integer(),
      name: t.String({ examples: ["shop"] }),
      fullName: t.String({ examples: ["acme/shop"] }),
      owner: t.String({ examples: ["acme"] }),
      private: t.Boolean(),
      defaultBranch: t.String({ examples: ["main"] }),
      description: nullable(t.String()),
      language: nullable(t.String()),
      htmlUrl: t.String(),
      cloneUrl: t.String(),
      pushedAt: nullable(Time),
      source: Source,
    },
    {
      id: "ID of the repository on the git host",
      name: "Name of the repository",
      fullName: "Owner and name",
      owner: "Name of the account that it belongs to",
      private: "Whether only some can see it",
      defaultBranch: "Branch that is used when none is given",
      description: "What its owner says about it",
      language: "Language that most of it is written in",
      htmlUrl: "Its page on the git host",
      cloneUrl: "Address to clone from",
      pushedAt: "Time of the last push",
      source: "How Slipway sees the repository",
    },
  ),
  { title: "Repository" },
);

export const BranchView = object(
  described(
    { name: t.String({ examples: ["main"] }), sha: t.String(), protected: t.Boolean() },
    { name: "Name of the branch", sha: "Its latest commit", protected: "Whether pushes to it are restricted" },
  ),
  { title: "Branch" },
);

export const FileEntryView = object(
  described(
    {
      name: t.String(),
      path: t.String(),
      type: explained(FILE_TYPE, { title: "FileType" }),
      size: integer(),
      sha: t.String(),
    },
    {
      name: "Name in its folder",
      path: "Path in the repository",
      type: "What the entry is",
      size: "Size in bytes",
      sha: "Hash of the content",
    },
  ),
  { title: "FileEntry" },
);

export const FileView = object(
  described(
    {
      path: t.String(),
      sha: t.String(),
      size: integer(),
      json: t.Optional(t.Unknown()),
      content: t.Optional(t.String()),
    },
    {
      path: "Path in the repository",
      sha: "Hash of the content",
      size: "Size in bytes",
      json: "The parsed content of a .json file",
      content: "The content of any other file, as text",
    },
  ),
  { title: "RepositoryFile" },
);

export const HookView = object(
  described(
    { hookId: integer(), url: t.String(), events: t.Array(t.String()), active: t.Boolean() },
    {
      hookId: "ID of the webhook on the git host",
      url: "Address that it delivers to",
      events: "Events that it delivers",
      active: "Whether it delivers",
    },
  ),
  { title: "Webhook" },
);

const InstallationView = object(
  {
    id: integer({ description: "ID of the installation on the git host" }),
    account: t.String({ description: "Account that the app is installed on" }),
    suspended: t.Boolean({ description: "Whether the account has suspended the app" }),
  },
  { title: "AppInstallation" },
);

export const StateView = object(
  {
    connected: t.Boolean({ description: "Whether any source can be used" }),
    primary: about("The source of highest preference", nullable(Source)),
    sources: object(
      {
        app: object(
          {
            connected: t.Boolean({ description: "Whether the app is installed and not suspended" }),
            installations: t.Array(InstallationView, { description: "Accounts that the app is installed on" }),
          },
          { description: "The app" },
        ),
        oauth: object(
          {
            connected: t.Boolean({ description: "Whether an account is connected by OAuth" }),
            login: about("Name of that account", nullable(t.String())),
          },
          { description: "The caller's account, or the one that serves the organization" },
        ),
        cli: object(
          {
            available: t.Boolean({ description: "Whether the command-line client is logged in on the server" }),
            login: about("Name of that account, if the git host answers", nullable(t.String())),
          },
          { description: "The git host's command-line client" },
        ),
      },
      { description: "The ways to reach the git host" },
    ),
  },
  { title: "GitHostState" },
);

export const PollView = object({
  status: explained(DEVICE_STATUS, { title: "DeviceLoginStatus", description: "Status of the login" }),
});

export const NamePath = object({
  owner: t.String({ description: "Name of the account on the git host" }),
  repo: t.String({ description: "Name of the repository" }),
});

export const SearchQuery = parameters({
  ...PageFields,
  search: t.Optional(text(200, { description: "Only entries that contain this text, ignoring case" })),
});

export const RepositoriesQuery = parameters({
  ...SearchQuery.properties,
  owner: t.Optional(text(100, { description: "Only repositories of this account" })),
});

export const BranchesFlag = parameters({ branches: t.Optional(flag("Also return all branches")) });

export const FilesQuery = parameters({
  ...SearchQuery.properties,
  path: t.Optional(t.String({ maxLength: 1_000, description: "Folder to list; defaults to the root" })),
  branch: t.Optional(text(244, { description: "Branch to read; defaults to the default branch" })),
});

export const FileQuery = parameters({
  file: t.Optional(t.String({ maxLength: 1_000, description: "Path of the file; defaults to package.json" })),
  branch: FilesQuery.properties.branch,
});

export const ConnectBody = object({
  source: t.Optional(
    explained(
      { oauth: GIT_HOST_SOURCE.oauth, cli: GIT_HOST_SOURCE.cli },
      { description: "Connect this source; by default the configured one is chosen" },
    ),
  ),
});

export const DisconnectBody = object({
  source: t.Optional(
    explained(
      { oauth: GIT_HOST_SOURCE.oauth, cli: GIT_HOST_SOURCE.cli, all: "Every source, the app included" },
      { description: "The source to disconnect; defaults to all" },
    ),
  ),
});

export const NewRepositoryBody = object({
  name: text(100, { description: "Name of the repository", examples: ["shop"] }),
  private: t.Optional(t.Boolean({ description: "Whether only some can see it; defaults to true" })),
  owner: t.Optional(text(100, { description: "Account to create it for; defaults to the connected user" })),
});

export const HookBody = object({ hookId: integer({ minimum: 1, description: "ID of the webhook on the git host" }) });

export function accountView({ login, id, type, avatarUrl, source }: SourcedAccount) {
  return { login, id, type, avatarUrl, source };
}

export function repositoryView(repository: SourcedRepository) {
  const { id, name, fullName, owner, private: isPrivate, defaultBranch, description, language } = repository;
  const { htmlUrl, cloneUrl, pushedAt, source } = repository;
  const named = { id, name, fullName, owner, private: isPrivate, defaultBranch, description, language };
  return { ...named, htmlUrl, cloneUrl, pushedAt: pushedAt?.toISOString() ?? null, source };
}

export function hookView({ id, url, events, active }: HostHook) {
  return { hookId: id, url, events: [...events], active };
}

export function stateView({ connected, primary, sources: { app, oauth, cli } }: ConnectionState) {
  const installations = app.installations.map(({ id, account, suspended }) => ({
    id,
    account: account.login,
    suspended,
  }));
  return { connected, primary, sources: { app: { connected: app.connected, installations }, oauth, cli } };
}
