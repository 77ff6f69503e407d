import { readFile } from "node:fs/promises";
import { unavailable } from "./unavailable.ts";

/** Whom the programs of projects run as. */
export interface AppUser {
  readonly uid: number;
  readonly gid: number;
}

const NAME = "slipway-app";

/** The unprivileged user that programs run as under root, made when missing; `undefined` when this process is not root. */
export async function appUser(): Promise<AppUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await find(NAME);
  if (existing) return existing;
  await createUser();
  const user = (await find(NAME)) ?? (await find("nobody"));
  if (user) return user;
  throw unavailable(
    "no_app_user",
    `Cannot run programs: they do not run as root and there is no user "${NAME}"; create one with useradd --system ${NAME}`,
  );
}

async function createUser(): Promise<void> {
  const useradd = Bun.which("useradd", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` });
  if (!useradd) return;
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  const shell = ["--shell", "/usr/sbin/nologin"];
  await Bun.spawn([useradd, ...options, ...shell, NAME], { stdio: ["ignore", "ignore", "ignore"] }).exited;
}

async function find(name: string): Promise<AppUser | undefined> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const fields = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([user]) => user === name);
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return uid > 0 && gid > 0 ? { uid, gid } : undefined;
}
