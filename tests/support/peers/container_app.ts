import type { CommitFiles } from "./git_server.ts";

/** Responds with a text, one connection at a time; exits on SIGTERM. */
const SERVER = `
use strict; use IO::Socket::INET;
$| = 1;
my $text = join '', do { local @ARGV = ('built'); <> };
chomp $text;
$SIG{TERM} = sub { exit 0 };
sleep $ENV{SLOW} // 0;
my $server = IO::Socket::INET->new(LocalPort => $ENV{PORT}, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!";
print "listening\\n";
while (1) {
  my $visitor = $server->accept or next;
  while (my $line = <$visitor>) { last if $line =~ /^\\r?\\n$/ }
  print $visitor "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($text) . "\\r\\nConnection: close\\r\\n\\r\\n$text";
  close $visitor;
}
`;

/** An app for a container that needs only the tests' base image. A slow one takes a while to build and to listen. */
export function containerApp(version: string, { slow = false, name = "app" } = {}): CommitFiles {
  return {
    Dockerfile: [
      "FROM debian:bookworm-slim",
      "WORKDIR /app",
      "COPY build.sh version ./",
      `RUN ["sh", "build.sh", "${name}-build"]`,
      `ENV SLOW=${slow ? 1 : 0}`,
      "COPY server.pl ./",
      "EXPOSE 3000",
      `CMD ["perl", "server.pl", "${name}-app"]`,
      "",
    ].join("\n"),
    "build.sh": `echo building $(cat version)\nsleep ${slow ? 1.5 : 0}\ncp version built\n`,
    version: `${version}\n`,
    "server.pl": SERVER,
  };
}
