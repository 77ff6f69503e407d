# Counts orders: GET /api/orders returns how many were made and shipped, POST /api/orders makes one.
use strict;
use warnings;
use IO::Socket::INET;

my $VERSION = 'one';
my $server = IO::Socket::INET->new(LocalPort => 3000, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!\n";
my $stopping = 0;
$SIG{TERM} = sub { $stopping = 1 };
$SIG{PIPE} = 'IGNORE';
$| = 1;
print "api $VERSION listens on 3000\n";

while (!$stopping) {
    my $visitor = $server->accept or next;
    my $request = <$visitor> // '';
    while (my $line = <$visitor>) { last if $line =~ /^\r?$/ }
    my $body = eval { answer($request) };
    my $status = defined $body ? '200 OK' : '503 Service Unavailable';
    $body //= "The database does not answer\n";
    print $visitor "HTTP/1.1 $status\r\nContent-Length: ${\length $body}\r\nConnection: close\r\n\r\n$body";
    close $visitor;
}

sub answer {
    my ($request) = @_;
    return "ok\n" if $request =~ m{^GET /api/health };
    if ($request =~ m{^POST /api/orders }) {
        ask('INCR', 'orders');
        ask('RPUSH', 'queue', 'order');
    }
    my ($orders, $shipped, $schema) = map { ask('GET', $_) // 0 } qw(orders shipped schema);
    return "api $VERSION, schema $schema, $orders orders, $shipped shipped\n";
}

# Asks the database: the words in, one value out.
sub ask {
    my @words = @_;
    my $db = IO::Socket::INET->new(PeerAddr => $ENV{DB_HOST}, PeerPort => 6379, Timeout => 5) or die "Cannot connect: $!\n";
    print $db join '', '*' . @words . "\r\n", map { '$' . length($_) . "\r\n$_\r\n" } @words;
    my $head = <$db> // die "The database closed the connection\n";
    return $1 if $head =~ /^:(-?\d+)/;
    return undef if $head =~ /^\$-1/;
    die "The database says $head" unless $head =~ /^\$(\d+)/;
    read $db, my $value, $1;
    return $value;
}
