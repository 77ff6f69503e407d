# The page of the shop: a greeting, and what the api says.
use strict;
use warnings;
use IO::Socket::INET;

my $VERSION = 'one';
my ($host, $port) = $ENV{API_URL} =~ m{^http://([^:/]+):(\d+)};
my $server = IO::Socket::INET->new(LocalPort => 8080, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!\n";
my $stopping = 0;
$SIG{TERM} = sub { $stopping = 1 };
$SIG{PIPE} = 'IGNORE';
$| = 1;
print "web $VERSION listens on 8080\n";

while (!$stopping) {
    my $visitor = $server->accept or next;
    while (my $line = <$visitor>) { last if $line =~ /^\r?$/ }
    # An api that is being replaced may go between two requests: ask again.
    my $orders = orders() // orders() // orders();
    my $status = defined $orders ? '200 OK' : '502 Bad Gateway';
    my $body = defined $orders ? "$ENV{GREETING} (web $VERSION): $orders" : "The api does not answer\n";
    print $visitor "HTTP/1.1 $status\r\nContent-Length: ${\length $body}\r\nConnection: close\r\n\r\n$body";
    close $visitor;
}

sub orders {
    my $api = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, MultiHomed => 1, Timeout => 5) or return;
    print $api "GET /api/orders HTTP/1.0\r\n\r\n";
    my $answer = join '', <$api>;
    return $answer =~ m{^HTTP/1\.\d 200 .*?\r\n\r\n(.*)}s ? $1 : undef;
}
