import { generateKeyPairSync } from "node:crypto";
import { MemoryGitHostState } from "../../../../adapters/memory/git_host.ts";

/** What an installation token may do. */
export interface InstallationToken {
  readonly installationId: number;
  readonly permissions: Readonly<Record<string, string>>;
  /** `null` for all repositories of the installation. */
  readonly repositoryIds: readonly number[] | null;
  readonly expiresAt: Date;
}

/** A device login that was begun, with when it may be asked about again. */
export interface EmulatedDevice {
  readonly userCode: string;
  readonly expiresAt: number;
  readonly scopes: readonly string[];
  intervalSeconds: number;
  lastAskedAt: number;
  state: "pending" | "denied" | "expired" | { readonly login: string };
}

/** Everything that the app was granted when it was installed. */
export const APP_PERMISSIONS = {
  administration: "write",
  contents: "write",
  metadata: "read",
  pull_requests: "write",
  repository_hooks: "write",
  statuses: "write",
} as const;

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** The state of an emulated git host: that of the host in memory, its app, and the tokens that it issued. */
export class EmulatedHostState extends MemoryGitHostState {
  readonly appId = 4_711;
  /** In the format that the real host hands out. */
  readonly appPrivateKey = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  readonly clientId = "Iv1.emulated";
  readonly clientSecret = "emulated-client-secret";
  /** The callback that the app was registered with. */
  redirectUrl = "https://slipway.example.com/api/git/connect/redirect";
  readonly installationTokens = new Map<string, InstallationToken>();
  readonly deviceLogins = new Map<string, EmulatedDevice>();
  /** The refresh tokens of logins on other devices. */
  readonly deviceGrants = new Set<string>();
  /** The former full names of repositories, in lower case, with their ids. */
  readonly formerNames = new Map<string, number>();
  /** Objects by id, as `owner/name branch path`. */
  readonly trees = new Map<string, { readonly repository: string; readonly branch: string; readonly path: string }>();
  installationTokenSeconds = 3_600;
  /** Whether user tokens expire and can be renewed, as the app's settings decide. Those of OAuth apps do not. */
  expiringUserTokens = true;
  deviceFlowEnabled = true;
  deviceIntervalSeconds = 0;

  constructor(webUrl: string) {
    super({ now: () => new Date() }, webUrl);
  }

  /** Revokes what was issued for an installation, as the host does on its own in rare cases. */
  revokeInstallationTokens(id: number): void {
    for (const [token, issued] of this.installationTokens) {
      if (issued.installationId === id) this.installationTokens.delete(token);
    }
  }

  override decideDevice(userCode: string, decision: { readonly login: string } | "denied" | "expired"): void {
    for (const device of this.deviceLogins.values()) if (device.userCode === userCode) device.state = decision;
  }

  /** Renames a repository; its former name redirects. */
  rename(owner: string, from: string, to: string): void {
    const former = `${owner}/${from}`.toLowerCase();
    const found = this.repositories.get(former);
    if (!found) throw new Error(`There is no repository ${former}`);
    this.repositories.delete(former);
    this.formerNames.set(former, found.repository.id);
    const fullName = `${owner}/${to}`;
    const urls = { htmlUrl: `${this.webUrl}/${fullName}`, cloneUrl: `${this.webUrl}/${fullName}.git` };
    const repository = { ...found.repository, name: to, fullName, ...urls };
    this.repositories.set(fullName.toLowerCase(), { ...found, repository });
  }
}
