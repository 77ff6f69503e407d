import type { OAuthGrant } from "../../../../domain/githost/oauth_grant.ts";
import type { EmulatedHostState } from "./emulated_host_state.ts";

type Fields = Readonly<Record<string, unknown>>;

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const SLOWER_BY_SECONDS = 5;

/** Answers the routes of OAuth, on the host's web address. Errors come with status 200, as the real host sends them. */
export function answerOAuth(state: EmulatedHostState, path: string, body: Fields): Response | undefined {
  if (path === "/login/device/code") return Response.json(startDevice(state, body));
  if (path === "/login/oauth/access_token") return Response.json(exchange(state, body));
  return undefined;
}

function startDevice(state: EmulatedHostState, { client_id: clientId, scope }: Fields): object {
  if (clientId !== state.clientId) return problem("incorrect_client_credentials", "The client_id is incorrect.");
  if (!state.deviceFlowEnabled) return problem("device_flow_disabled", "Device Flow must be explicitly enabled.");
  const deviceCode = crypto.randomUUID();
  const userCode = `WXYZ-${state.number()}`;
  const expiresAt = Date.now() + 900_000;
  const intervalSeconds = state.deviceIntervalSeconds;
  const scopes = typeof scope === "string" ? scope.split(" ").filter(Boolean) : [];
  const pending = { userCode, expiresAt, intervalSeconds, scopes, lastAskedAt: 0, state: "pending" } as const;
  state.deviceLogins.set(deviceCode, { ...pending });
  const verification = { verification_uri: `${state.webUrl}/login/device`, expires_in: 900, interval: intervalSeconds };
  return { device_code: deviceCode, user_code: userCode, ...verification };
}

function exchange(state: EmulatedHostState, body: Fields): object {
  if (body["client_id"] !== state.clientId)
    return problem("incorrect_client_credentials", "The client_id is incorrect.");
  if (body["grant_type"] === DEVICE_GRANT) return exchangeDevice(state, String(body["device_code"]));
  const isOfDevice = body["grant_type"] === "refresh_token" && state.deviceGrants.has(String(body["refresh_token"]));
  if (body["client_secret"] !== state.clientSecret && !(isOfDevice && body["client_secret"] === undefined))
    return problem("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.");
  if (body["grant_type"] === "refresh_token") return refresh(state, String(body["refresh_token"]));
  const code = String(body["code"]);
  const login = state.codes.get(code);
  if (login === undefined) return problem("bad_verification_code", "The code passed is incorrect or expired.");
  if (body["redirect_uri"] !== state.redirectUrl)
    return problem("redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL.");
  state.codes.delete(code);
  return grantShape(state, login);
}

function refresh(state: EmulatedHostState, refreshToken: string): object {
  const login = state.refreshTokens.get(refreshToken);
  if (login === undefined) return problem("bad_refresh_token", "The refresh token passed is incorrect or expired.");
  state.refreshTokens.delete(refreshToken);
  return state.deviceGrants.has(refreshToken) ? deviceGrantShape(state, login) : grantShape(state, login);
}

function exchangeDevice(state: EmulatedHostState, deviceCode: string): object {
  const device = state.deviceLogins.get(deviceCode);
  if (!device) return problem("incorrect_device_code", "The device_code provided is not valid.");
  if (device.state === "expired" || device.expiresAt <= Date.now())
    return problem("expired_token", "The device_code has expired.");
  if (device.state === "denied") return problem("access_denied", "The authorization request was denied.");
  const isEarly = Date.now() - device.lastAskedAt < device.intervalSeconds * 1_000;
  device.lastAskedAt = Date.now();
  if (isEarly) {
    device.intervalSeconds += SLOWER_BY_SECONDS;
    return { ...problem("slow_down", "Too many requests have been made."), interval: device.intervalSeconds };
  }
  if (device.state === "pending")
    return problem("authorization_pending", "The authorization request is still pending.");
  state.deviceLogins.delete(deviceCode);
  return deviceGrantShape(state, device.state.login, device.scopes);
}

/** Tokens that are renewed without the client secret. */
function deviceGrantShape(state: EmulatedHostState, login: string, scopes: readonly string[] = []): object {
  const grant = grantShape(state, login, scopes);
  if ("refresh_token" in grant) state.deviceGrants.add(String(grant.refresh_token));
  return grant;
}

function grantShape(state: EmulatedHostState, login: string, scopes: readonly string[] = []): object {
  const grant: OAuthGrant = state.expiringUserTokens
    ? state.grant(login)
    : { token: state.issueToken(login, { scopes }), refreshToken: null, expiresAt: null };
  const base = { access_token: grant.token.reveal(), token_type: "bearer", scope: scopes.join(",") };
  if (!grant.refreshToken) return base;
  const expiry = { expires_in: 28_800, refresh_token_expires_in: 15_897_600 };
  return { ...base, refresh_token: grant.refreshToken.reveal(), ...expiry };
}

function problem(error: string, description: string): object {
  return { error, error_description: description, error_uri: "https://docs.example.com/oauth" };
}
