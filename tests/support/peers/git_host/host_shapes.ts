import type { components } from "@octokit/openapi-types";
import type { MemoryRepository } from "../../../../adapters/memory/git_host_data.ts";
import type { GitAccount } from "../../../../domain/githost/repository.ts";
import { APP_PERMISSIONS, type EmulatedHostState } from "./emulated_host_state.ts";

/** Shapes from the git host's own description, which the compiler holds the answers against. */
export type Schemas = components["schemas"];

/** The shape of a user or an organization inside other answers. */
export function userShape(account: GitAccount, api: string): Schemas["simple-user"] {
  const url = `${api}/users/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: `U_${account.id}`,
    avatar_url: account.avatarUrl ?? "",
    gravatar_id: "",
    url,
    html_url: `${api}/${account.login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    site_admin: false,
  };
}

/** The shape of an organization in the list of a user's. */
export function organizationShape(account: GitAccount, api: string): Schemas["organization-simple"] {
  const url = `${api}/orgs/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: `O_${account.id}`,
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: account.avatarUrl ?? "",
    description: null,
  };
}

type UrlField = Extract<keyof Schemas["repository"], `${string}_url`>;

/** Where the resources of a repository are, below its own address. */
const BELOW = {
  archive_url: "{archive_format}{/ref}",
  assignees_url: "assignees{/user}",
  blobs_url: "git/blobs{/sha}",
  branches_url: "branches{/branch}",
  collaborators_url: "collaborators{/collaborator}",
  comments_url: "comments{/number}",
  commits_url: "commits{/sha}",
  compare_url: "compare/{base}...{head}",
  contents_url: "contents/{+path}",
  contributors_url: "contributors",
  deployments_url: "deployments",
  downloads_url: "downloads",
  events_url: "events",
  forks_url: "forks",
  git_commits_url: "git/commits{/sha}",
  git_refs_url: "git/refs{/sha}",
  git_tags_url: "git/tags{/sha}",
  hooks_url: "hooks",
  issue_comment_url: "issues/comments{/number}",
  issue_events_url: "issues/events{/number}",
  issues_url: "issues{/number}",
  keys_url: "keys{/key_id}",
  labels_url: "labels{/name}",
  languages_url: "languages",
  merges_url: "merges",
  milestones_url: "milestones{/number}",
  notifications_url: "notifications{?since,all,participating}",
  pulls_url: "pulls{/number}",
  releases_url: "releases{/id}",
  stargazers_url: "stargazers",
  statuses_url: "statuses/{sha}",
  subscribers_url: "subscribers",
  subscription_url: "subscription",
  tags_url: "tags",
  teams_url: "teams",
  trees_url: "git/trees{/sha}",
} as const satisfies Partial<Record<UrlField, string>>;

/** The shape of a repository. */
export function repositoryShape(state: EmulatedHostState, { repository }: MemoryRepository, api: string) {
  const url = `${api}/repos/${repository.fullName}`;
  const owner = state.accounts.get(repository.owner.toLowerCase());
  const at = (repository.pushedAt ?? new Date(0)).toISOString();
  const urls = Object.fromEntries(Object.entries(BELOW).map(([name, path]) => [name, `${url}/${path}`]));
  return {
    ...(urls as Record<keyof typeof BELOW, string>),
    id: repository.id,
    node_id: `R_${repository.id}`,
    name: repository.name,
    full_name: repository.fullName,
    license: null,
    forks: 0,
    owner: userShape(owner ?? { login: repository.owner, id: 0, type: "User", avatarUrl: null }, api),
    private: repository.private,
    html_url: repository.htmlUrl,
    description: repository.description,
    fork: false,
    url,
    git_url: repository.cloneUrl.replace(/^https?/, "git"),
    ssh_url: `git@git.example.com:${repository.fullName}.git`,
    clone_url: repository.cloneUrl,
    mirror_url: null,
    svn_url: repository.htmlUrl,
    homepage: null,
    language: repository.language,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 1,
    default_branch: repository.defaultBranch,
    open_issues_count: 0,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    archived: false,
    disabled: false,
    pushed_at: repository.pushedAt?.toISOString() ?? null,
    created_at: at,
    updated_at: at,
    open_issues: 0,
    watchers: 0,
  } satisfies Schemas["repository"];
}

/** The shape of an installation of the app. */
export function installationShape(state: EmulatedHostState, id: number, api: string): Schemas["installation"] {
  const { account, createdAt, suspended, repositories } = state.installation(id);
  return {
    id,
    account: userShape(account, api),
    repository_selection: repositories === "all" ? "all" : "selected",
    access_tokens_url: `${api}/app/installations/${id}/access_tokens`,
    repositories_url: `${api}/installation/repositories`,
    html_url: `${state.webUrl}/settings/installations/${id}`,
    app_id: state.appId,
    target_id: account.id,
    target_type: account.type,
    permissions: APP_PERMISSIONS,
    events: ["push"],
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
    single_file_name: null,
    app_slug: "slipway",
    suspended_by: null,
    suspended_at: suspended ? createdAt.toISOString() : null,
  };
}
