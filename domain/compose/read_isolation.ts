import type { ComposeNode } from "./compose_node.ts";
import { itemsIn, textIn } from "./field_values.ts";
import { shown } from "./notes.ts";
import type { ServiceReading } from "./service_reading.ts";

/** The capabilities that every container gets. */
const GIVEN = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "NET_BIND_SERVICE",
  "SETGID",
  "SETUID",
  "SYS_CHROOT",
];
const OTHERS = [
  "AUDIT_CONTROL",
  "AUDIT_READ",
  "AUDIT_WRITE",
  "BLOCK_SUSPEND",
  "BPF",
  "CHECKPOINT_RESTORE",
  "DAC_READ_SEARCH",
  "IPC_LOCK",
  "IPC_OWNER",
  "LEASE",
  "LINUX_IMMUTABLE",
  "MAC_ADMIN",
  "MAC_OVERRIDE",
  "MKNOD",
  "NET_ADMIN",
  "NET_BROADCAST",
  "NET_RAW",
  "PERFMON",
  "SETFCAP",
  "SETPCAP",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_MODULE",
  "SYS_NICE",
  "SYS_PACCT",
  "SYS_PTRACE",
  "SYS_RAWIO",
  "SYS_RESOURCE",
  "SYS_TIME",
  "SYS_TTY_CONFIG",
  "SYSLOG",
  "WAKE_ALARM",
];
const KNOWN = new Set([...GIVEN, ...OTHERS, "ALL"]);

/** Isolation modes that are accepted, as they are the default anyway; all others are refused. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  cgroup: ["private"],
  ipc: ["private", "shareable"],
  network_mode: ["default", "bridge"],
  pid: [],
  uts: [],
};

/** Refuses settings that open a container to the host or to other containers; returns the capabilities to drop. */
export function readIsolation(service: ServiceReading): readonly string[] {
  const { keys, name, reading } = service;
  const { notes } = reading;
  for (const [key, usual] of Object.entries(USUAL)) {
    const node = keys.get(key);
    const text = node && textIn(notes, node, `"${key}" of ${name}`);
    if (!node || text === undefined || text === "" || usual.includes(text)) continue;
    const reason = "a service is isolated from the machine and shares only the network of its project. Remove it";
    notes.problem(node.at, `Cannot use "${key}" of ${name}: ${reason}`);
  }
  for (const item of itemsIn(notes, keys.get("security_opt"), `"security_opt" of ${name}`)) {
    // Every container is started with this option.
    if (item.kind === "scalar" && /^no-new-privileges(?:[:=]true)?$/.test(item.text)) continue;
    notes.problem(
      item.at,
      `Cannot use ${shown(item)} in "security_opt" of ${name}: all containers are isolated in the same way. Remove it`,
    );
  }
  const platform = keys.get("platform");
  if (platform) {
    notes.warning(
      platform.at,
      `Left out "platform" of ${name}: images are built and pulled for the machine that runs them`,
    );
  }
  return dropped(service);
}

function dropped(service: ServiceReading): readonly string[] {
  const added = capabilities(service, "cap_add");
  const taken = capabilities(service, "cap_drop").map(({ capability }) => capability);
  for (const { capability, node } of added) {
    if (GIVEN.includes(capability)) continue;
    const reason = `containers get only ${GIVEN.join(", ")}. Remove it`;
    service.reading.notes.problem(node.at, `Cannot give ${service.name} the capability ${shown(node)}: ${reason}`);
  }
  const wanted = new Set(added.map(({ capability }) => capability));
  if (!taken.includes("ALL")) return GIVEN.filter((one) => taken.includes(one) && !wanted.has(one));
  return wanted.size === 0 ? ["ALL"] : GIVEN.filter((one) => !wanted.has(one));
}

function capabilities({ keys, name, reading: { notes } }: ServiceReading, key: "cap_add" | "cap_drop") {
  const found: { readonly capability: string; readonly node: ComposeNode }[] = [];
  for (const node of itemsIn(notes, keys.get(key), `"${key}" of ${name}`)) {
    const capability = textIn(notes, node, `"${key}" of ${name}`)?.toUpperCase().replace(/^CAP_/, "");
    if (capability === undefined) continue;
    if (KNOWN.has(capability)) found.push({ capability, node });
    else notes.problem(node.at, `Cannot understand ${shown(node)} in "${key}" of ${name}: there is no such capability`);
  }
  return found;
}
