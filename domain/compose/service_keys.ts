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

const MACHINE = "it would give the container control over the machine. Remove it";

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
  ...refusedKeys(
    "every container runs with the engine's defaults. Remove it",
    "runtime",
    "isolation",
    "credential_spec",
  ),
  ...refusedKeys("it refers to containers outside of this file. Add them to it", "external_links"),
  volumes_from: { refused: 'volumes cannot be taken from other containers. Name them under "volumes" of both' },
  group_add: { refused: 'additional groups are not supported. Set "user" as in user:group' },
  label_file: { refused: 'labels are not read from a file. Write them under "labels"' },
  provider: { refused: "providers are not supported, every service is a container. Give it an image" },
  ...refusedKeys(
    "hooks before and after start and stop are not supported. Let the command of the service do it",
    "post_start",
    "pre_stop",
  ),
};

const TUNING = "only cpus, mem_limit, pids_limit, shm_size and deploy.resources.limits limit a service";

const LEFT: KeyRules = {
  container_name: {
    left: "releases run side by side, so each container gets a name of its own; others find it by its service's name",
  },
  logging: { left: "the output of a service is recorded with its deployment" },
  ...leftKeys("services have no terminal", "tty", "stdin_open"),
  ...leftKeys("it is only for development", "develop", "attach"),
  annotations: { left: "it has no effect here" },
  pull_refresh_after: { left: "an image is pulled as pull_policy says" },
  ...leftKeys("the engine resolves names", "dns", "dns_opt", "dns_search", "domainname"),
  mac_address: { left: "the engine assigns addresses" },
  storage_opt: { left: "the engine stores containers with its defaults" },
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
  models: { refused: "models are not supported. Remove them" },
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
  ...refusedKeys("it would give the build control over the machine. Remove it", "privileged", "entitlements"),
  ...leftKeys("the build cache is kept and used automatically", "cache_from", "cache_to", "no_cache", "pull"),
  ...leftKeys("an image is known by its deployment, not by names or labels", "tags", "labels", "provenance", "sbom"),
  ...leftKeys(
    "a build runs with the engine's defaults",
    "network",
    "extra_hosts",
    "shm_size",
    "ulimits",
    "isolation",
    "platforms",
  ),
};

const SWARM = "only Docker Swarm supports it";

/** How each key of `deploy` is handled. */
export const DEPLOY_KEYS: KeyRules = {
  ...readKeys("replicas", "resources", "restart_policy"),
  ...leftKeys(SWARM, "endpoint_mode", "labels", "mode", "placement", "rollback_config", "update_config"),
};
