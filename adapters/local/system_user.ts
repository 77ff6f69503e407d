import { readFile } from "node:fs/promises";
import { Failure } from "../../domain/failure.ts";
import type { FindSystemUser, SystemUser } from "../../ports/servers/system_user.ts";

const TRIES = 10;
const AGAIN_MS = 300;
/** Exit codes of `useradd` while another program locks the user database. */
const BUSY = [1, 10];
/** Two concurrent `useradd` may both succeed, and one user is lost. */
const LOCK = "/run/slipway-users.lock";

/**
 * Returns a system user of this name for programs that root starts. Creates it if missing, and falls back to `nobody`.
 * Returns `undefined` when this process is not root.
 */
export function systemUser(name: string): FindSystemUser {
  let user: Promise<SystemUser | undefined> | undefined;
  return async function () {
    if (process.getuid?.() !== 0) return undefined;
    user ??= found(name).then(async (own) => own ?? (await find("nobody")));
    const known = await user;
    if (known) return known;
    throw new Failure(
      "unavailable",
      "no_system_user",
      `Cannot run programs: they do not run as root and there is no user "${name}"; create one with useradd --system ${name}`,
    );
  };
}

/** Finds or creates the user; retries while another program locks the user database. */
async function found(name: string): Promise<SystemUser | undefined> {
  for (let attempt = 1, isBusy = true; isBusy && attempt <= TRIES; attempt++) {
    const user = await find(name);
    if (user) return user;
    if (attempt > 1) await Bun.sleep(AGAIN_MS);
    isBusy = await make(name);
  }
  return find(name);
}

/** Tries to create the user; returns whether a retry may succeed. */
async function make(name: string): Promise<boolean> {
  const useradd = Bun.which("useradd", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` });
  if (!useradd) return false;
  const alone = Bun.which("flock") ? ["flock", LOCK] : [];
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  const shell = ["--shell", "/usr/sbin/nologin"];
  const command = [...alone, useradd, ...options, ...shell, name];
  return BUSY.includes(await Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] }).exited);
}

async function find(name: string): Promise<SystemUser | undefined> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const fields = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([user]) => user === name);
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return uid > 0 && gid > 0 ? { uid, gid } : undefined;
}
