import { callbackUrl, type GitHostSettings } from "./git_host_settings.ts";

/** Returns the page of the git host on which a user installs the app. */
export function installUrl({ webUrl, app }: GitHostSettings, state: string): string {
  return withQuery(`${webUrl}/apps/${encodeURIComponent(app?.slug ?? "")}/installations/new`, { state });
}

/** Returns the page of the git host on which a user allows Slipway to act for them. */
export function authorizeUrl(settings: GitHostSettings, state: string): string {
  // The permissions of an app are its own; an OAuth app asks for what browsing, cloning and webhooks need.
  const scope = settings.app ? {} : { scope: "repo read:org admin:repo_hook" };
  return withQuery(`${settings.webUrl}/login/oauth/authorize`, {
    client_id: settings.oauth?.clientId ?? "",
    redirect_uri: callbackUrl(settings),
    ...scope,
    state,
  });
}

function withQuery(address: string, query: Record<string, string>): string {
  return `${address}?${new URLSearchParams(query)}`;
}
