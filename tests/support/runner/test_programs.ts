import { existsSync } from "node:fs";
import { run, say } from "./command.ts";
import { dockerAnswers } from "./docker_engine.ts";
import { useDockerProgram } from "./docker_program.ts";
import { withoutWebServices } from "./web_services.ts";
import { SSHD } from "./ssh_server_program.ts";

interface Program {
  readonly name: string;
  /** The packages that contain it. */
  readonly packages: readonly string[];
  isThere(): Promise<boolean>;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "Docker",
    packages: ["docker.io", "iptables", "iproute2", "debootstrap", "debian-archive-keyring"],
    isThere: async () => (await dockerAnswers()) || Bun.which("dockerd") !== null,
  },
  { name: "a Docker client that builds with BuildKit", packages: ["docker.io"], isThere: useDockerProgram },
  {
    name: "a registry of images",
    packages: ["docker-registry"],
    isThere: async () => Bun.which("docker-registry") !== null,
  },
  { name: "an SSH server", packages: ["openssh-server"], isThere: async () => existsSync(SSHD) },
  { name: "an ACME server", packages: ["pebble"], isThere: async () => Bun.which("pebble") !== null },
  {
    name: "nginx",
    packages: ["nginx-light", "libnginx-mod-stream"],
    isThere: async () => Bun.which("nginx") !== null && existsSync("/etc/nginx/modules-enabled/50-mod-stream.conf"),
  },
  { name: "HAProxy", packages: ["haproxy"], isThere: async () => Bun.which("haproxy") !== null },
  { name: "Caddy", packages: ["caddy"], isThere: async () => Bun.which("caddy") !== null },
  { name: "bubblewrap", packages: ["bubblewrap"], isThere: async () => Bun.which("bwrap") !== null },
];

/** Ensures that all programs that the tests need are installed. Installs missing ones if possible, all at once. */
export async function testPrograms(): Promise<void> {
  const there = await Promise.all(PROGRAMS.map((program) => program.isThere()));
  const missing = PROGRAMS.filter((_, index) => !there[index]);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(" and ");
  if (process.getuid?.() !== 0 || !Bun.which("apt-get")) {
    throw new Error(`Cannot run these tests: ${names} must be installed first; or use bin/test --fast`);
  }
  say(`Installing ${names} …`);
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  const packages = new Set(missing.flatMap((program) => program.packages));
  await run(["apt-get", "update"], { environment });
  await using _ = await withoutWebServices();
  const installed = await run(["apt-get", "install", "-y", "--no-install-recommends", ...packages], { environment });
  if (!installed.ok) throw new Error(`Cannot install ${names}: ${installed.lastLine}`);
  // Newer Docker packages ship the client and buildx separately.
  if (!(await useDockerProgram()))
    await run(["apt-get", "install", "-y", "docker-cli", "docker-buildx"], { environment });
  if (!(await useDockerProgram()))
    throw new Error("Cannot run these tests: no docker client here builds with BuildKit");
}
