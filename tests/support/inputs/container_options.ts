/** A container as somebody creates it by hand. */
export interface HandMadeContainer {
  /** The options of `docker run`, without its name: `publish=80:80`. */
  readonly options: readonly string[];
  /** The program with its arguments. */
  readonly command: readonly string[];
  /** The image; by default the tiny one, by name. */
  readonly image?: "by-id" | "furnished";
}

/** Ends at once when it is told to: the first process of a container gets no default handlers of signals. */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM INT; sleep 100000 & wait"];

/** For an image whose entrypoint is a shell, and whose signal to stop is another one. */
const QUIET = "trap 'exit 0' TERM USR1; sleep 100000 & wait";

/** Networks that the containers below are in, with the options to create them. */
export const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  fixed: ["--subnet", "10.231.7.0/24", "--gateway", "10.231.7.1"],
  inner: ["--internal", "--label", "team=shop", "--opt", "com.docker.network.bridge.enable_icc=true"],
};

function sleeping(...options: readonly string[]): HandMadeContainer {
  return { options, command: SLEEP };
}

/** Containers with all kinds of options, by name. Each can be created on any engine. */
export const CONTAINERS: Readonly<Record<string, HandMadeContainer>> = {
  // Before the one with the address, so that it makes the network.
  "beside-fixed-address": sleeping("network=fixed"),
  "without-options": sleeping(),
  "image-by-id": { ...sleeping(), image: "by-id" },
  "image-with-everything": { options: ["env=PORT=8080"], command: [], image: "furnished" },
  "image-with-other-command": { options: ["env=PORT=8080"], command: [QUIET], image: "furnished" },
  "entrypoint-of-its-own": { options: ["entrypoint=/bin/sleep"], command: ["100000"], image: "furnished" },
  "empty-entrypoint": { options: ["entrypoint="], command: SLEEP, image: "furnished" },
  "odd-words": { options: [], command: [...SLEEP, "$0 `x` 'y' \"z\"", "", "--last"] },
  "odd-variables": sleeping(
    ...["A=", "B=$HOME", "C=$$x", "D=a=b", "E= spaces ", 'F="quoted"', "G=line\nbreak", "H=ünïcode ☃", "I='`\\"].map(
      (each) => `env=${each}`,
    ),
  ),
  "other-path": sleeping("env=PATH=/bin:/srv"),
  "ports-tcp-and-udp": sleeping("publish=21080:80", "publish=21053:53/udp", "publish=21053:53/tcp"),
  "ports-of-an-address": sleeping("publish=127.0.0.1:21090:90", "publish=127.0.0.1::91"),
  "ports-in-a-range": sleeping("publish=21100-21103:100-103", "expose=200-202"),
  "port-twice": sleeping("publish=21110:80", "publish=21111:80"),
  binds: sleeping("volume=/srv/trip/files:/files", "volume=/srv/trip/fixed:/fixed:ro"),
  "bind-shared": sleeping("volume=/srv/trip/shared:/shared:rslave"),
  volumes: sleeping("volume=trip_data:/data", "volume=trip_fixed:/fixed:ro", "volume=/anonymous"),
  "mount-notation": sleeping(
    "mount=type=volume,source=trip_data,target=/data,readonly",
    "mount=type=tmpfs,target=/memory,tmpfs-size=1048576,tmpfs-mode=1770",
  ),
  memory: sleeping("tmpfs=/scratch:rw,size=65536k,noexec"),
  networks: sleeping("network=plain", "network-alias=one", "network-alias=two"),
  "fixed-address": sleeping("network=fixed", "ip=10.231.7.77", "network-alias=fixed"),
  "inner-network": sleeping("network=inner"),
  "host-network": sleeping("network=host"),
  "no-network": sleeping("network=none"),
  "restart-always": sleeping("restart=always"),
  "restart-sometimes": sleeping("restart=on-failure:7"),
  health: sleeping(
    "health-cmd=test -e /bin/sh || exit 1",
    "health-interval=7s",
    "health-timeout=3s",
    "health-retries=4",
    "health-start-period=1500ms",
  ),
  "no-health": { ...sleeping("no-healthcheck"), image: "furnished", command: [QUIET] },
  limits: sleeping(
    "memory=96m",
    "memory-reservation=32m",
    "memory-swap=128m",
    "cpus=0.5",
    "pids-limit=77",
    "shm-size=8m",
    "cpu-shares=512",
    "ulimit=nofile=1000:2000",
    "ulimit=core=0",
    "oom-score-adj=100",
  ),
  quota: sleeping("cpu-period=50000", "cpu-quota=20000", "cpuset-cpus=0"),
  capabilities: sleeping("cap-add=NET_ADMIN", "cap-add=SYS_PTRACE", "cap-drop=MKNOD", "cap-drop=CHOWN"),
  "no-capabilities": sleeping("cap-drop=ALL", "cap-add=NET_BIND_SERVICE"),
  devices: sleeping("device=/dev/null:/dev/nothing:r", "device-cgroup-rule=c 1:3 rw"),
  labels: sleeping("label=team=shop", "label=empty=", "label=odd.key/with:signs=a=b $c"),
  "user-and-folder": sleeping("user=1234:2345", "workdir=/tmp", "group-add=44", "group-add=55"),
  names: sleeping(
    "hostname=box",
    "domainname=shop.test",
    "add-host=db.test:10.0.0.9",
    "add-host=v6.test:::1",
    "dns=10.0.0.53",
    "dns-search=shop.test",
    "dns-option=ndots:2",
  ),
  init: sleeping("init", "read-only", "tmpfs=/tmp"),
  "no-init": sleeping("init=false"),
  kernel: sleeping("sysctl=net.ipv4.ip_unprivileged_port_start=0", "sysctl=net.core.somaxconn=333"),
  stopping: sleeping("stop-signal=SIGINT", "stop-timeout=3"),
  "stopping-at-once": sleeping("stop-timeout=0"),
  logging: sleeping("log-driver=json-file", "log-opt=max-size=3m", "log-opt=tag={{.Name}}"),
  "logging-nowhere": sleeping("log-driver=none"),
  security: sleeping("security-opt=no-new-privileges", "security-opt=seccomp=unconfined"),
  terminal: sleeping("tty", "interactive"),
  "shared-namespaces": sleeping("ipc=host", "pid=host", "uts=host"),
  "shareable-memory": sleeping("ipc=shareable", "cgroupns=private"),
};

/** Containers that need another one of their server, or end with it; adopting them has to warn about it. */
export const UNREPRODUCIBLE: Readonly<Record<string, HandMadeContainer>> = {
  "network-of-another": sleeping("network=container:without-options"),
  "volumes-of-another": sleeping("volumes-from=volumes"),
  "processes-of-another": sleeping("pid=container:without-options"),
  "memory-of-another": sleeping("ipc=container:shareable-memory"),
  linked: sleeping("link=without-options:friend"),
  "removed-at-end": sleeping("rm"),
};
