/** Fields of JSON. */
export type Json = Record<string, unknown>;

export const CONTAINER_ID = "4f1e".repeat(16);
export const VOLUME_ID = "9c0d".repeat(16);

/** What an engine has about an image, as `GET /images/…/json` reports it. */
export const INSPECTED_IMAGE: Json = {
  Id: `sha256:${"ab".repeat(32)}`,
  RepoTags: ["nginx:1.27"],
  RepoDigests: [`nginx@sha256:${"cd".repeat(32)}`],
  Config: {
    Env: ["PATH=/usr/sbin:/usr/bin", "NGINX_VERSION=1.27.0"],
    Entrypoint: ["/docker-entrypoint.sh"],
    Cmd: ["nginx", "-g", "daemon off;"],
    ExposedPorts: { "80/tcp": {} },
    Volumes: { "/var/cache/nginx": {} },
    Labels: { maintainer: "NGINX" },
    StopSignal: "SIGQUIT",
    WorkingDir: "/srv",
    Healthcheck: { Test: ["CMD", "true"] },
  },
};

/** A container of that image as Docker 20.10 reports it by `GET /containers/…/json`. */
export const INSPECTED: Json = {
  Id: CONTAINER_ID,
  Created: "2026-05-01T00:00:00.000000000Z",
  Path: "/docker-entrypoint.sh",
  Args: ["nginx", "-g", "daemon off;"],
  State: { Status: "running", Running: true, ExitCode: 0, StartedAt: "2026-05-01T00:00:01.000000000Z" },
  Image: `sha256:${"ab".repeat(32)}`,
  Name: "/shop_web_1",
  RestartCount: 2,
  Config: {
    Hostname: CONTAINER_ID.slice(0, 12),
    Domainname: "",
    User: "",
    AttachStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    ExposedPorts: { "80/tcp": {}, "443/tcp": {} },
    Tty: false,
    OpenStdin: false,
    StdinOnce: false,
    Env: ["PASSWORD=hunter2=x", "EMPTY=", "PATH=/usr/sbin:/usr/bin", "NGINX_VERSION=1.27.0"],
    Cmd: ["nginx", "-g", "daemon off;"],
    Healthcheck: { Test: ["CMD", "true"] },
    Image: "nginx:1.27",
    Volumes: { "/var/cache/nginx": {} },
    WorkingDir: "/srv",
    Entrypoint: ["/docker-entrypoint.sh"],
    OnBuild: null,
    Labels: { maintainer: "NGINX", "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
    StopSignal: "SIGQUIT",
  },
  HostConfig: {
    Binds: ["shop_data:/data:rw", "/etc/shop:/conf:ro"],
    ContainerIDFile: "",
    LogConfig: { Type: "json-file", Config: {} },
    NetworkMode: "shop_default",
    PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "8080" }] },
    RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 },
    AutoRemove: false,
    VolumesFrom: [],
    CapAdd: ["NET_ADMIN"],
    CapDrop: null,
    ExtraHosts: ["db.local:10.0.0.9"],
    IpcMode: "private",
    Privileged: false,
    SecurityOpt: null,
    Tmpfs: { "/run": "size=64m" },
    ShmSize: 67_108_864,
    Runtime: "runc",
    ConsoleSize: [0, 0],
    Memory: 134_217_728,
    NanoCpus: 1_500_000_000,
    Sysctls: {},
    Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 2048 }],
  },
  Mounts: [
    {
      Type: "volume",
      Name: "shop_data",
      Source: "/var/lib/docker/volumes/shop_data/_data",
      Destination: "/data",
      RW: true,
    },
    { Type: "bind", Source: "/etc/shop", Destination: "/conf", Mode: "ro", RW: false },
    { Type: "volume", Name: VOLUME_ID, Source: "/var/lib/docker/…", Destination: "/var/cache/nginx", RW: true },
  ],
  NetworkSettings: {
    Networks: {
      shop_default: {
        IPAMConfig: { IPv4Address: "172.20.0.9" },
        Links: null,
        Aliases: ["web", "shop_web_1", CONTAINER_ID.slice(0, 12), "web"],
        NetworkID: "x",
        IPAddress: "172.20.0.9",
        MacAddress: "02:42:ac:14:00:09",
        DriverOpts: null,
      },
    },
  },
};

/** Returns a value with some fields at a path replaced. */
export function changed(value: Json, path: readonly string[], fields: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return { ...value, ...fields };
  return { ...value, [first]: changed((value[first] ?? {}) as Json, rest, fields) };
}
