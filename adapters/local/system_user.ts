import { readFile } from "node:fs/promises";
import { Failure } from "../../domain/failure.ts";
import type { FindSystemUser, SystemUser } from "../../ports/system_user.ts";

/** Finds a user of this machine by name for programs that root starts, made when missing; `nobody` where none can be made. */
export function systemUser(name: string): FindSystemUser {
  return async function () {
    if (process.getuid?.() !== 0) return undefined;
    const existing = await find(name);
    if (existing) return existing;
    await make(name);
    const user = (await find(name)) ?? (await find("nobody"));
    if (user) return user;
    throw new Failure(
      "unavailable",
      "no_system_user",
      `Cannot run programs: they do not run as root and there is no user "${name}"; create one with useradd --system ${name}`,
    );
  };
}

async function make(name: string): Promise<void> {
  const useradd = Bun.which("useradd", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` });
  if (!useradd) return;
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  const shell = ["--shell", "/usr/sbin/nologin"];
  await Bun.spawn([useradd, ...options, ...shell, name], { stdio: ["ignore", "ignore", "ignore"] }).exited;
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
