import type { HostInstallation } from "../../domain/githost/app_installation.ts";
import type { GitAccount } from "../../domain/githost/repository.ts";
import { addressIn, numberIn, textIn, timeIn } from "./answer_fields.ts";
import type { HostCall } from "./host_call.ts";
import { hasStatus } from "./host_failure.ts";
import { UnusableAnswer } from "./host_fetch.ts";

/** An account in an answer of the git host, as far as it is used. */
interface HostAccount {
  readonly login: string;
  readonly id: number;
  readonly type?: string;
  readonly avatar_url: string;
}

/** Converts an account of an answer. */
export function accountFrom({ login, id, type, avatar_url: avatarUrl }: HostAccount): GitAccount {
  const kind = type === "Organization" ? "Organization" : "User";
  return { login: textIn(login), id: numberIn(id), type: kind, avatarUrl: avatarUrl ? addressIn(avatarUrl) : null };
}

/** Reads an installation of the app, as the app itself; `undefined` if there is none. */
export async function readInstallation(call: HostCall, id: number): Promise<HostInstallation | undefined> {
  try {
    const { data } = await call.send(({ rest }, options) =>
      rest.apps.getInstallation({ installation_id: id, ...options }),
    );
    const { account } = data;
    if (!account || !("login" in account))
      throw new UnusableAnswer("the app is not installed on a user or organization");
    return {
      id: data.id,
      account: accountFrom(account),
      createdAt: timeIn(data.created_at) ?? new Date(0),
      suspended: data.suspended_at !== null,
    };
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
