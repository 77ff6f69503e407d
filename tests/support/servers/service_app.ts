import type { Files, TestProject } from "../apps/deploying.ts";
import { eventually } from "../eventually.ts";

/** Options for a version of the services. */
export interface ServiceAppOptions {
  /** The prefix of the build command's arguments. */
  readonly name: string;
  /** Takes a while to build and to listen. */
  readonly slow?: boolean;
  /** The service without visitors (`back`) exits on start. */
  readonly broken?: boolean;
}

/** Makes the builds of this run unique: a cached layer of an earlier run would make slow ones fast. */
const RUN = crypto.randomUUID();

/** The page of the `web` service when the `back` service does not respond. */
const UNREACHABLE = "back is unreachable";

/** Responds with its version, or with what the `back` service reports about itself and the volume. */
const SERVER = `
use strict; use IO::Socket::INET;
$| = 1;
my $role = shift;
my $version = $ENV{VERSION};
$SIG{TERM} = sub { exit 0 };
$SIG{PIPE} = 'IGNORE';
die "nothing is well\\n" if $ENV{BROKEN} && $role eq 'back';
note('/data/starts') if $role eq 'back';
sleep $ENV{SLOW} if $role eq 'web';
my $port = $role eq 'web' ? 3000 : 4000;
my $server = IO::Socket::INET->new(LocalPort => $port, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!";
print "$role listens\\n";
while (1) {
  my $visitor = $server->accept or next;
  my $request = <$visitor> // '';
  while (my $line = <$visitor>) { last if $line =~ /^\\r?\\n$/ }
  my $text = $role eq 'back' ? "$version starts=" . text('/data/starts') . ' once=' . text('/data/once')
    : $request =~ m{^GET /back } ? backText() : $version;
  print $visitor "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($text) . "\\r\\nConnection: close\\r\\n\\r\\n$text";
  close $visitor;
}
sub text { open my $file, '<', shift or return ''; local $/; return join ',', split /\\n/, <$file> // ''; }
sub note { open my $file, '>>', shift or die "Cannot write: $!"; print $file "$version\\n"; close $file; }
sub backText {
  my $back = IO::Socket::INET->new(PeerAddr => 'back', PeerPort => 4000, Timeout => 2) or return '${UNREACHABLE}';
  print $back "GET / HTTP/1.0\\r\\n\\r\\n";
  my $answer = join '', <$back>;
  return $answer =~ /\\r\\n\\r\\n(.*)/s ? $1 : '${UNREACHABLE}';
}
`;

/**
 * Three services in containers that need only the tests' base image: one for visitors, one behind it with a volume, and
 * a one-shot one.
 */
export function serviceApp(version: string, { name, slow = false, broken = false }: ServiceAppOptions): Files {
  return {
    "compose.yaml": `
services:
  web:
    build: .
    command: [perl, server.pl, web]
    environment: { VERSION: ${version}, SLOW: "${slow ? 1 : 0}" }
    expose: ["3000"]
    depends_on:
      once: { condition: service_completed_successfully }
  back:
    build: .
    command: [perl, server.pl, back]
    environment: { VERSION: ${version}, BROKEN: "${broken ? 1 : ""}" }
    volumes: ["data:/data"]
    restart: always
  once:
    build: .
    command: [sh, -c, "echo $$VERSION >> /data/once"]
    environment: { VERSION: ${version} }
    volumes: ["data:/data"]
    restart: "no"
volumes:
  data:
`,
    Dockerfile: [
      "FROM debian:bookworm-slim",
      "WORKDIR /app",
      "COPY build.sh ./",
      `RUN ["sh", "build.sh", "${name}-build"]`,
      "COPY server.pl ./",
      "",
    ].join("\n"),
    // Fast versions reuse the cached layers of each other.
    ".dockerignore": "compose.yaml\n",
    "build.sh": `# ${RUN} ${slow ? version : ""}\necho building\nsleep ${slow ? 1.5 : 0}\n`,
    "server.pl": SERVER,
  };
}

/**
 * The page of the `back` service, once it responds. A service without a port counts as up as soon as it runs, which is
 * before it listens.
 */
export function backPage(project: TestProject): Promise<string> {
  return eventually(
    () => project.page("/back"),
    (text) => text !== UNREACHABLE,
  );
}
