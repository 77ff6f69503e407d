import type { Files } from "../apps/deploying.ts";

/** Prints its environment variables and responds with the sum of their characters. */
const SERVER = `
use strict; use IO::Socket::INET;
$| = 1;
print "given $ENV{KEY} at $ENV{ADDRESS}\\n";
my $text = unpack '%32C*', $ENV{KEY} . $ENV{ADDRESS};
my $server = IO::Socket::INET->new(LocalPort => 3000, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!";
$SIG{TERM} = sub { exit 0 };
while (1) {
  my $visitor = $server->accept or next;
  while (my $line = <$visitor>) { last if $line =~ /^\\r?\\n$/ }
  print $visitor "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($text) . "\\r\\nConnection: close\\r\\n\\r\\n$text";
  close $visitor;
}
`;

/**
 * Services whose compose file uses the project's `SHOP_KEY` in the environment, in a command and in a health check. One
 * serves; one prints the key and exits.
 */
export const TELLING_APP: Files = {
  "compose.yaml": `
services:
  web:
    build: .
    environment:
      KEY: \${SHOP_KEY:?give it}
      ADDRESS: redis://shop:\${SHOP_KEY}@db/0
    expose: ["3000"]
    healthcheck:
      test: "test -n '\${SHOP_KEY}' && echo \${SHOP_KEY}"
      interval: 1s
  teller:
    build: .
    command: [sh, -c, "echo it is \${SHOP_KEY} >&2; echo \${SHOP_KEY} | base64; exit 3"]
`,
  Dockerfile: 'FROM debian:bookworm-slim\nWORKDIR /app\nCOPY server.pl ./\nCMD ["perl", "server.pl"]\n',
  "server.pl": SERVER,
};
