import { type KeyRules, leftKeys, readKeys, refusedKeys } from "./known_keys.ts";

const OWN_KEYS = readKeys(
  "build",
  "cap_add",
  "cap_drop",
  "cgroup",
  "command",
  "configs",
  "cpus",
  "depends_on",
  "deploy",
  "entrypoint",
  "env_file",
  "environment",
  "expose",
  "extends",
  "extra_hosts",
  "healthcheck",
  "hostname",
  "image",
  "init",
  "ipc",
  "labels",
  "links",
  "mem_limit",
  "network_mode",
  "networks",
  "pid",
  "pids_limit",
  "platform",
  "ports",
  "profiles",
  "pull_policy",
  "read_only",
  "restart",
  "scale",
  "secrets",
  "security_opt",
  "shm_size",
  "stop_grace_period",
  "stop_signal",
  "tmpfs",
  "ulimits",
  "user",
  "uts",
  "volumes",
  "working_dir",
);

const MACHINE = "it would give the container a hold on the machine. Remove it";

const REFUSED: KeyRules = {
  ...refusedKeys(
    MACHINE,
    "privileged",
    "devices",
    "device_cgroup_rules",
    "sysctls",
    "cgroup_parent",
    "userns_mode",
    "use_api_socket",
  ),
  ...refusedKeys("services get no graphics cards or other devices. Remove it", "gpus", "models"),
  ...refusedKeys("every container runs in the engine's own way. Remove it", "runtime", "isolation", "credential_spec"),
  ...refusedKeys("it reaches for containers outside of this file. Put them into it", "external_links"),
  volumes_from: { refused: 'volumes are not taken over from other containers. Name them under "volumes" of both' },
  group_add: { refused: 'no further groups are given. Set "user" as in user:group' },
  label_file: { refused: 'labels are not read from a file. Write them under "labels"' },
  provider: { refused: "services are containers here, not made by a program of their own. Give it an image" },
  ...refusedKeys(
    "no commands are run around start and stop. Let the command of the service do it",
    "post_start",
    "pre_stop",
  ),
};

const TUNING = "only cpus, mem_limit, pids_limit, shm_size and deploy.resources.limits bound a service";

const LEFT: KeyRules = {
  container_name: {
    left: "releases run side by side, so each container gets a name of its own; others find it by its service's name",
  },
  logging: { left: "what a service writes is kept with its deployment" },
  ...leftKeys("nobody sits at a terminal of a service", "tty", "stdin_open"),
  ...leftKeys("it only helps while developing", "develop", "attach"),
  annotations: { left: "nothing here reads it" },
  pull_refresh_after: { left: "an image is pulled as pull_policy says" },
  ...leftKeys("names are looked up as the engine does it", "dns", "dns_opt", "dns_search", "domainname"),
  mac_address: { left: "the engine gives out addresses" },
  storage_opt: { left: "the engine keeps containers in its own way" },
  ...leftKeys(
    TUNING,
    "blkio_config",
    "cpu_count",
    "cpu_percent",
    "cpu_period",
    "cpu_quota",
    "cpu_rt_period",
    "cpu_rt_runtime",
    "cpu_shares",
    "cpuset",
    "mem_reservation",
    "mem_swappiness",
    "memswap_limit",
    "oom_kill_disable",
    "oom_score_adj",
  ),
};

/** How each key of a service is handled. */
export const SERVICE_KEYS: KeyRules = { ...OWN_KEYS, ...REFUSED, ...LEFT };

/** How each top-level key of a compose file is handled. */
export const FILE_KEYS: KeyRules = {
  ...readKeys("services", "volumes", "networks", "configs", "secrets", "include"),
  name: { left: "the project keeps the name it has here" },
  version: { left: "compose files have no versions any more" },
  models: { refused: "no models are run. Remove them" },
};

/** How each key of `build` is handled. */
export const BUILD_KEYS: KeyRules = {
  ...readKeys("context", "dockerfile", "dockerfile_inline", "target", "args"),
  ...refusedKeys(
    "a build gets no keys or secrets of this kind. Read the variables of the project as build secrets",
    "ssh",
    "secrets",
  ),
  additional_contexts: { refused: "a build sees one folder. Copy what it needs into that" },
  ...refusedKeys("it would give the build a hold on the machine. Remove it", "privileged", "entitlements"),
  ...leftKeys("what was built before is kept and used again by itself", "cache_from", "cache_to", "no_cache", "pull"),
  ...leftKeys("an image is known by its deployment, not by names or labels", "tags", "labels", "provenance", "sbom"),
  ...leftKeys(
    "a build runs in the engine's own way",
    "network",
    "extra_hosts",
    "shm_size",
    "ulimits",
    "isolation",
    "platforms",
  ),
};

const SWARM = "only a swarm of machines knows it";

/** How each key of `deploy` is handled. */
export const DEPLOY_KEYS: KeyRules = {
  ...readKeys("replicas", "resources", "restart_policy"),
  ...leftKeys(SWARM, "endpoint_mode", "labels", "mode", "placement", "rollback_config", "update_config"),
};
