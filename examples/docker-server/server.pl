use strict;
use warnings;
use IO::Socket::INET;

my $server = IO::Socket::INET->new(LocalPort => $ENV{PORT}, Listen => 64, ReuseAddr => 1) or die "cannot listen: $!\n";
$SIG{TERM} = sub { exit };
$| = 1;
print "listening on $ENV{PORT}\n";

while (my $client = $server->accept) {
    my $path = (split " ", <$client> // "")[1] // "/";
    while (my $line = <$client>) { last if $line =~ /^\r?$/ }
    my $body = $path eq "/health" ? "ok\n" : "A $ENV{EDITION} container says hello\n";
    print $client "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${\length $body}\r\nConnection: close\r\n\r\n$body";
    close $client;
}
