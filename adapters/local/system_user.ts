import { readFile } from "node:fs/promises";
import { Failure } from "../../domain/failure.ts";
import type { FindSystemUser, SystemUser } from "../../ports/system_user.ts";

const TRIES = 10;
const AGAIN_MS = 300;

/** Finds a user of this machine by name for programs that root starts, made when missing; `nobody` where none can be made. */
export function systemUser(name: string): FindSystemUser {
  return async function () {
    if (process.getuid?.() !== 0) return undefined;
    const user = (await found(name)) ?? (await find("nobody"));
    if (user) return user;
    throw new Failure(
      "unavailable",
      "no_system_user",
      `Cannot run programs: they do not run as root and there is no user "${name}"; create one with useradd --system ${name}`,
    );
  };
}

/** The user, made when missing. Only one program at a time may change the users of a machine: whoever else does is waited for. */
async function found(name: string): Promise<SystemUser | undefined> {
  for (let attempt = 1; ; attempt++) {
    const user = await find(name);
    if (user || attempt > TRIES) return user;
    if (!(await make(name))) await Bun.sleep(AGAIN_MS);
  }
}

/** Whether a try to make it went well, or there is nothing to make it with. */
async function make(name: string): Promise<boolean> {
  const useradd = Bun.which("useradd", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` });
  if (!useradd) return true;
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  const shell = ["--shell", "/usr/sbin/nologin"];
  return (
    (await Bun.spawn([useradd, ...options, ...shell, name], { stdio: ["ignore", "ignore", "ignore"] }).exited) === 0
  );
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
